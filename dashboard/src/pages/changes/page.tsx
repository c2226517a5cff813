import { useCallback, useMemo } from 'react';
import { Link } from 'wouter';

import type { Change } from '../../../../client/src/index.ts';
import { useOwners } from '../../api/owners.ts';
import { useList } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { PageHead } from '../../components/page.tsx';
import { Split } from '../../components/sheet.tsx';
import { Empty, ErrorState } from '../../components/states.tsx';
import { Table } from '../../components/table.tsx';
import type { Column } from '../../components/table.tsx';
import { saveCsv } from '../../lib/csv.ts';
import { formatDayHead, formatSeconds } from '../../lib/time.ts';
import { useUrlState } from '../../lib/url-state.ts';
import { ChangeSheet } from './change-sheet.tsx';
import { acceptances, actionWords, hasRow, kindWord, titleOf } from './change-words.ts';
import { filterNames, Filters } from './filters.tsx';
import { useKnownNames } from './known-names.ts';

/** Changes that are read at once; older ones when they are asked for. */
const readAtOnce = 100;

export function Page() {
  const { role } = useSession();
  if (role === 'admin') return <ChangeLog />;
  return (
    <div className="page">
      <PageHead title="Change log" lead="Every change of the configuration, with who made it." />
      <section className="panel">
        <Empty icon="clock" title="Only admins read the change log">
          It shows what everybody in the account has done. Ask an admin: with a link to this page, they see the same.
        </Empty>
      </section>
    </div>
  );
}

function ChangeLog() {
  const [params, setParams] = useUrlState();
  const who = useWho();
  const read = useList('ChangesList', { query: queryOf(params), wanted: readAtOnce });
  const action = params.get('action');
  const accepted = useMemo(() => acceptances(read.data ?? []), [read.data]);
  const title = useTitle(accepted);
  const changes = useMemo(
    () => read.data?.filter((change) => action === null || change.action === action),
    [read.data, action],
  );
  const rows = useMemo(
    () => (action === null ? changes?.filter((change) => hasRow(change, accepted)) : changes),
    [action, changes, accepted],
  );
  const openId = params.get('open');
  const opened = openId === null ? undefined : read.data?.find(({ id }) => id === openId);
  const hrefOf = useCallback(
    ({ id }: Change): string => {
      const next = new URLSearchParams(params);
      next.set('open', id);
      return `/changes?${next.toString()}`;
    },
    [params],
  );
  const columns = useMemo(() => columnsOf(who, title, hrefOf), [who, title, hrefOf]);
  const isFiltered = filterNames.some((name) => params.has(name));
  const clear = (): void => setParams(Object.fromEntries(filterNames.map((name) => [name, undefined])));
  return (
    <Split
      sheet={
        opened === undefined ? undefined : (
          <ChangeSheet
            key={opened.id}
            change={opened}
            title={title(opened)}
            who={who(opened.actor)}
            onClose={() => setParams({ open: undefined })}
          />
        )
      }
    >
      <PageHead
        title="Change log"
        lead="Every change of the configuration, with who made it. Nothing here can be edited."
        actions={
          <Button
            icon="download"
            disabled={(changes?.length ?? 0) === 0}
            onClick={() => save(changes ?? [], who, title)}
          >
            Export CSV
          </Button>
        }
      />
      <Filters />
      <div className="panel flush">
        {read.error !== undefined && changes === undefined ? (
          <ErrorState title="The change log could not be read" error={read.error} onRetry={read.retry} />
        ) : changes?.length === 0 && !read.isLoadingMore ? (
          <Empty
            icon="clock"
            title={isFiltered ? 'No change fits the filter' : 'Nothing was changed yet'}
            action={isFiltered ? <Button onClick={clear}>Clear the filter</Button> : undefined}
          />
        ) : (
          <Table
            label="Changes"
            columns={columns}
            rows={rows}
            keyOf={({ id }) => id}
            hrefOf={hrefOf}
            isSelected={({ id }) => id === openId}
            groupOf={({ created_at: at }) => formatDayHead(at)}
          />
        )}
        {read.hasMore ? (
          <footer>
            <span className="grow" role="status">
              {read.isLoadingMore ? 'Reading older changes' : ''}
            </span>
            <Button small disabled={read.isLoadingMore} onClick={read.loadMore}>
              Read older ones
            </Button>
          </footer>
        ) : null}
      </div>
    </Split>
  );
}

function useTitle(accepted: ReadonlySet<string>): (change: Change) => string {
  const known = useKnownNames();
  return useCallback((change) => titleOf(change, known, accepted), [known, accepted]);
}

function useWho(): (actor: string) => string {
  const owner = useOwners();
  return useMemo(
    () => (actor) => (actor === 'host' ? 'host' : actor === 'provider' ? 'identity provider' : owner(actor).name),
    [owner],
  );
}

/** The part of the filter that the server knows. */
function queryOf(params: URLSearchParams): Record<string, string> {
  const since = params.get('since');
  const given = {
    kind: params.get('kind'),
    actor: params.get('who'),
    resource_id: params.get('resource'),
    since: since === null ? null : `${since}T00:00:00Z`,
  };
  return Object.fromEntries(Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== null));
}

function save(changes: readonly Change[], who: (actor: string) => string, title: (change: Change) => string): void {
  saveCsv('gatehouse-changes.csv', [
    [
      'created_at',
      'actor',
      'name',
      'source',
      'key_id',
      'scope',
      'action',
      'kind',
      'resource_id',
      'version',
      'operation_id',
      'what',
    ],
    ...changes.map((change) => [
      change.created_at,
      change.actor,
      who(change.actor),
      change.source ?? '',
      change.key_id ?? '',
      change.scope ?? '',
      change.action,
      change.kind,
      change.resource_id,
      String(change.version),
      change.operation_id,
      title(change),
    ]),
  ]);
}

function columnsOf(
  nameOfActor: (id: string) => string,
  title: (change: Change) => string,
  hrefOf: (change: Change) => string,
): readonly Column<Change>[] {
  return [
    {
      id: 'time',
      head: 'Time',
      isNarrow: true,
      cell: ({ created_at: at }) => (
        <time className="muted" dateTime={at} title={at}>
          {formatSeconds(at)}
        </time>
      ),
    },
    {
      id: 'what',
      head: 'What',
      width: '99%',
      cell: (change) => (
        <>
          <Link className="main" to={hrefOf(change)} data-row-link>
            {title(change)}
          </Link>
          <span className="sub">
            <span className="m1i">{nameOfActor(change.actor)} · </span>
            {actionWords[change.action]} · {kindWord(change.kind)}
          </span>
        </>
      ),
    },
    {
      id: 'who',
      head: 'Who',
      priority: 'p1',
      isNarrow: true,
      cell: ({ actor, source }) => (
        <>
          <span className="soft">{nameOfActor(actor)}</span>
          {source === undefined ? null : <span className="sub mono">{source}</span>}
        </>
      ),
    },
  ];
}
