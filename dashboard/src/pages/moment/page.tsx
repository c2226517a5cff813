import { useLocation } from 'wouter';

import { useList } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { ButtonLink } from '../../components/button.tsx';
import { useCrumb } from '../../components/crumb.tsx';
import { PageHead, Panel } from '../../components/page.tsx';
import type { PageProps } from '../../components/page.tsx';
import { Empty, ErrorState, Skeleton } from '../../components/states.tsx';
import { countOf, formatNumber } from '../../lib/text.ts';
import { formatDate } from '../../lib/time.ts';
import { useMoment, useUrlState } from '../../lib/url-state.ts';
import { AsOfBar } from './as-of-bar.tsx';
import { Comparison } from './comparison.tsx';
import { isShownOn } from './kinds.ts';
import { MomentPicker } from './moment-picker.tsx';
import { Counts, PastList, PastThing } from './past-lists.tsx';
import { usePast } from './past.ts';
import type { Past } from './past.ts';
import { momentWords } from './words.ts';

/** Every page while an earlier moment is shown: what the change log knows of it, and never data of now. */
export function Page({ id, pages }: PageProps) {
  const { role } = useSession();
  const isAdmin = role === 'admin';
  const at = useMoment() ?? '';
  const { data: past, error, retry } = usePast(at, isAdmin);
  useCrumb(past === undefined ? undefined : `As of ${momentWords(at, past.moment)}`);
  return (
    <>
      <AsOfBar past={past} />
      <div className="page">
        {!isAdmin ? (
          <Panel>
            <Empty isPage icon="clock" title="Only admins read the configuration of an earlier moment">
              It comes from the change log. Ask an admin: with a link to this page, they see it.
            </Empty>
          </Panel>
        ) : error !== undefined && past === undefined ? (
          <Panel>
            <ErrorState isPage title="This moment cannot be shown" error={error} onRetry={retry} />
          </Panel>
        ) : past === undefined ? (
          <Skeleton lines={5} />
        ) : (
          <PageThen past={past} id={id} pages={pages} />
        )}
      </div>
    </>
  );
}

function PageThen({ past, id, pages }: { readonly past: Past } & PageProps) {
  const [location] = useLocation();
  const path = location.split('/')[1] ?? '';
  const page = pages.find((each) => each.path === path);
  if (path === 'changes') return <MomentOverview past={past} />;
  if (path === '') return <Counts past={past} pages={pages} />;
  if (page !== undefined && isShownOn(path))
    return id === undefined ? <PastList past={past} page={page} /> : <PastThing past={past} page={page} id={id} />;
  return (
    <Panel>
      <Empty
        isPage
        icon="clock"
        title={`${page?.title ?? 'This page'}: not known for an earlier moment`}
        action={<ButtonLink to="/changes">See the configuration of this moment</ButtonLink>}
      >
        The change log keeps the configuration of moments, not what happened in them or who could sign in. Go back to
        now to see this page.
      </Empty>
    </Panel>
  );
}

function MomentOverview({ past }: { readonly past: Past }) {
  const [params] = useUrlState();
  const other = params.get('with') ?? undefined;
  return (
    <>
      <PageHead title={`The configuration as of ${momentWords(past.at, past.moment)}`} lead={<Since past={past} />} />
      <MomentPicker past={past} other={other} />
      <Comparison past={past} other={other} />
    </>
  );
}

/** Changes that are counted one by one. */
const mostCounted = 100;

function Since({ past: { moment, first } }: { readonly past: Past }) {
  const { version, created_at: at } = moment;
  const read = useList('ChangesList', { query: at === null ? {} : { since: at }, wanted: mostCounted });
  const since = read.data?.filter((change) => change.version > version);
  const people = new Set(since?.map(({ actor }) => actor)).size;
  const many = read.hasMore
    ? `More than ${formatNumber(mostCounted)} changes`
    : countOf(since?.length ?? 0, 'change', 'changes');
  return (
    <>
      {since === undefined
        ? ''
        : since.length === 0
          ? 'Nothing has changed since. '
          : `${many}, by ${countOf(people, 'person', 'people')}${read.hasMore ? ' or more' : ''}, ${since.length === 1 ? 'lies' : 'lie'} between this moment and now. `}
      {first === null || first.created_at === null ? '' : `The log goes back to ${formatDate(first.created_at)}.`}
    </>
  );
}
