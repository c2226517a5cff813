import { useCallback, useEffect, useState } from 'react';
import { Link, Route, Switch, useLocation } from 'wouter';

import { useLost } from '../api/connection.ts';
import { lookAtBuild, useServerBuild } from '../api/server-build.ts';
import { rereadSession, useSession } from '../api/session.ts';
import { Banner } from '../components/banner.tsx';
import { Button, ButtonLink } from '../components/button.tsx';
import { Modal } from '../components/dialog.tsx';
import { LostBanner } from '../components/lost-banner.tsx';
import { Empty } from '../components/states.tsx';
import { UpdateOffer } from '../components/update-offer.tsx';
import { usePutAway } from '../lib/put-away.ts';
import { useMoment } from '../lib/url-state.ts';
import { CrumbContext } from '../components/crumb.tsx';
import { GoToRow } from './go-to-row.tsx';
import { KeysHelp } from './keys-help.tsx';
import { useKeyboard } from './keyboard.ts';
import { PageBoundary } from './page-boundary.tsx';
import { PageCode } from './page-code.tsx';
import { Palette } from './palette.tsx';
import { momentPage, pages } from './pages.ts';
import { SideBar } from './side-bar.tsx';
import { TopBar } from './top-bar.tsx';

const routes = pages.map((entry) => ({
  path: entry.path === '' ? '/' : `/${entry.path}/:id?`,
  entry,
}));

/** Layers that can lie over the page. */
type Overlay = 'drawer' | 'palette' | 'keys' | 'row';

/** Side bar, top bar, and the page that the URL names. */
export function Shell() {
  const [location] = useLocation();
  const [crumb, setCrumb] = useState<string>();
  const [opened, setOpened] = useState<{ readonly what: Overlay; readonly at: string }>();
  // Whatever lies over the page is gone as soon as it has led to another one.
  const open = opened?.at === location ? opened.what : undefined;
  const show = (what: Overlay) => () => setOpened({ what, at: location });
  const page = pages.find(({ path }) => path === (location.split('/')[1] ?? ''));
  const isPast = useMoment() !== undefined;
  const isWide = isPast || page?.isWide === true;
  const close = useCallback(() => setOpened(undefined), []);
  useKeyboard({ onSearch: show('palette'), onHelp: show('keys'), onRow: show('row') });
  useEffect(() => {
    document.title = [crumb, page?.title, 'Gatehouse'].filter((part) => part !== undefined).join(' · ');
  }, [crumb, page]);
  useEffect(() => {
    const reread = (): void => {
      void rereadSession();
      void lookAtBuild();
    };
    addEventListener('focus', reread);
    return () => removeEventListener('focus', reread);
  }, []);

  return (
    <CrumbContext value={setCrumb}>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <div className={useLost() === undefined ? 'app' : 'app lost'}>
        <SideBar current={page} isPast={isPast} />
        <div>
          <TopBar page={page} crumb={crumb} onMenu={show('drawer')} onSearch={show('palette')} />
          <main id="main" className={isWide ? '' : 'page'} tabIndex={-1}>
            <Lost isWide={isWide} />
            <Updated isWide={isWide} />
            <WouldBeRefused isWide={isWide} isOverview={page?.path === ''} />
            <Routes />
          </main>
        </div>
      </div>
      {open === 'drawer' ? (
        <Modal label="Menu" className="drawer" onClose={close}>
          <SideBar current={page} isPast={isPast} />
        </Modal>
      ) : null}
      {open === 'palette' ? <Palette onClose={close} /> : null}
      {open === 'keys' ? <KeysHelp onClose={close} /> : null}
      {open === 'row' ? <GoToRow onClose={close} /> : null}
    </CrumbContext>
  );
}

function Lost({ isWide }: { readonly isWide: boolean }) {
  if (useLost() === undefined) return null;
  return (
    <div className={isWide ? 'told wide' : 'told'}>
      <LostBanner />
    </div>
  );
}

function Updated({ isWide }: { readonly isWide: boolean }) {
  if (useServerBuild() === 'same') return null;
  return (
    <div className={isWide ? 'told wide' : 'told'}>
      <UpdateOffer />
    </div>
  );
}

function Routes() {
  const [location] = useLocation();
  const isPast = useMoment() !== undefined;
  return (
    <PageBoundary page={location}>
      <Switch>
        {routes.map(({ path, entry }) => (
          <Route key={path} path={path}>
            {({ id }: { readonly id?: string }) =>
              isPast ? <PageCode key="past" entry={momentPage} id={id} /> : <PageCode key="now" entry={entry} id={id} />
            }
          </Route>
        ))}
        <Route>
          <section className="panel">
            <Empty
              isPage
              icon="search"
              title="There is no such page"
              action={<ButtonLink to="/">Go to the overview</ButtonLink>}
            >
              The link may be from another version of Gatehouse.
            </Empty>
          </section>
        </Route>
      </Switch>
    </PageBoundary>
  );
}

/**
 * While a dashboard restriction only warns, whoever it would refuse is told on every page. It can be put away until
 * tomorrow, but for the overview, and comes back when another restriction or address makes it another one.
 */
function WouldBeRefused({ isWide, isOverview }: { readonly isWide: boolean; readonly isOverview: boolean }) {
  const { address, would_be_refused_by: restrictions } = useSession();
  const what = `${address} ${restrictions.map(({ id }) => id).join(' ')}`;
  const [isAway, putAway] = usePutAway(what);
  const [first] = restrictions;
  if (first === undefined || (isAway && !isOverview)) return null;
  const name = first.description === undefined || first.description === '' ? undefined : first.description;
  const link = <Link to={`/ip-restrictions/${first.id}`}>{name ?? 'A dashboard restriction'}</Link>;
  return (
    <div className={isWide ? 'told wide' : 'told'}>
      <Banner
        tone="warn"
        note="Allow your address before somebody enforces it, or you cannot come back from here."
        actions={
          <>
            <ButtonLink small to={`/ip-restrictions/${first.id}`}>
              Review the restriction
            </ButtonLink>
            {isAway ? null : (
              <Button small onClick={putAway}>
                Put away until tomorrow
              </Button>
            )}
          </>
        }
      >
        {name === undefined ? link : <>The dashboard restriction “{link}”</>} only warns. Your address{' '}
        <code>{address}</code> would be refused.
      </Banner>
    </div>
  );
}
