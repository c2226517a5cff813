import { lazy, Suspense, useCallback, useEffect, useState } from 'react';
import type { ComponentType } from 'react';
import { Link, Route, Switch, useLocation } from 'wouter';

import { readSession, useSession } from '../api/session.ts';
import { Banner } from '../components/banner.tsx';
import { ButtonLink } from '../components/button.tsx';
import { Modal } from '../components/dialog.tsx';
import type { PageProps } from '../components/page.tsx';
import { Empty, Skeleton } from '../components/states.tsx';
import { nameOf } from '../lib/text.ts';
import { CrumbContext } from '../components/crumb.tsx';
import { GoToRow } from './go-to-row.tsx';
import { KeysHelp } from './keys-help.tsx';
import { useKeyboard } from './keyboard.ts';
import { Palette } from './palette.tsx';
import { loadedPage, loadPage, pages } from './pages.ts';
import type { PageEntry } from './pages.ts';
import { SideBar } from './side-bar.tsx';
import { TopBar } from './top-bar.tsx';

const routes = pages.map((entry) => ({
  path: entry.path === '' ? '/' : `/${entry.path}/:id?`,
  entry,
  Lazy: lazy(async () => ({ default: await loadPage(entry) })),
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
  const close = useCallback(() => setOpened(undefined), []);
  useKeyboard({ onSearch: show('palette'), onHelp: show('keys'), onRow: show('row') });
  useEffect(() => {
    document.title = [crumb, page?.title, 'Gatehouse'].filter((part) => part !== undefined).join(' · ');
  }, [crumb, page]);
  useEffect(() => {
    const reread = (): void => void readSession();
    addEventListener('focus', reread);
    return () => removeEventListener('focus', reread);
  }, []);

  return (
    <CrumbContext value={setCrumb}>
      <a className="skip" href="#main">
        Skip to content
      </a>
      <div className="app">
        <SideBar current={page} />
        <div>
          <TopBar page={page} crumb={crumb} onMenu={show('drawer')} onSearch={show('palette')} />
          <main id="main" className={page?.isWide === true ? '' : 'page'} tabIndex={-1}>
            <WouldBeRefused />
            <Routes />
          </main>
        </div>
      </div>
      {open === 'drawer' ? (
        <Modal label="Menu" className="drawer" onClose={close}>
          <SideBar current={page} />
        </Modal>
      ) : null}
      {open === 'palette' ? <Palette onClose={close} /> : null}
      {open === 'keys' ? <KeysHelp onClose={close} /> : null}
      {open === 'row' ? <GoToRow onClose={close} /> : null}
    </CrumbContext>
  );
}

function Routes() {
  return (
    <Suspense fallback={<Skeleton lines={4} />}>
      <Switch>
        {routes.map(({ path, entry, Lazy }) => (
          <Route key={path} path={path}>
            {(params: { readonly id?: string }) => <PageCode entry={entry} lazily={Lazy} id={params.id} />}
          </Route>
        ))}
        <Route>
          <section className="panel">
            <Empty
              icon="search"
              title="There is no such page"
              action={<ButtonLink to="/">Go to the overview</ButtonLink>}
            >
              The link may be from another version of Gatehouse.
            </Empty>
          </section>
        </Route>
      </Switch>
    </Suspense>
  );
}

/** React shows skeletons for 300 ms at least, once it has shown them: a page whose code is there goes without. */
function PageCode({
  entry,
  lazily,
  id,
}: Pick<PageProps, 'id'> & { readonly entry: PageEntry; readonly lazily: ComponentType<PageProps> }) {
  const [Page] = useState(() => loadedPage(entry) ?? lazily);
  return <Page id={id} pages={pages} />;
}

/** While a dashboard restriction only warns, whoever it would refuse is told on every page. */
function WouldBeRefused() {
  const { address, would_be_refused_by: restrictions } = useSession();
  const [first] = restrictions;
  if (first === undefined) return null;
  return (
    <Banner
      tone="warn"
      note="Allow your address before somebody enforces it, or you cannot come back from here."
      actions={
        <ButtonLink small to={`/ip-restrictions/${first.id}`}>
          Review the restriction
        </ButtonLink>
      }
    >
      The dashboard restriction “<Link to={`/ip-restrictions/${first.id}`}>{nameOf(first)}</Link>” only warns. Your
      address <code>{address}</code> would be refused.
    </Banner>
  );
}
