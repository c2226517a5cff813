import { useMemo } from 'react';

import type { Decision } from '../../../../client/src/index.ts';
import { Button } from '../../components/button.tsx';
import { PageHead } from '../../components/page.tsx';
import { Empty, ErrorState, Skeleton } from '../../components/states.tsx';
import { WindowedTable } from '../../components/windowed-table.tsx';
import { saveCsv } from '../../lib/csv.ts';
import { countOf } from '../../lib/text.ts';
import { useUrlState } from '../../lib/url-state.ts';
import { useEdges } from '../../parts/edge-names.ts';
import { useNames } from '../../parts/names.ts';
import { explanationOf } from '../../parts/past-requests.ts';
import { AskId } from './ask-id.tsx';
import { columnsOf } from './columns.tsx';
import { filterNames, Filters } from './filters.tsx';
import { NotKept } from './not-kept.tsx';
import { Incomplete } from './incomplete.tsx';
import { useDecisions } from './use-decisions.ts';
import type { Decisions } from './use-decisions.ts';

/** What was decided about visitors, newest first. */
export function RequestList() {
  const [params] = useUrlState();
  const edges = useEdges();
  const read = useDecisions(params);
  const notKept = read.told?.not_kept;
  return (
    <>
      <PageHead
        title="Past requests"
        lead="What was decided about every visitor and by what, for as long as gateways keep it. Bodies, cookies and queries are never kept."
        actions={
          notKept === undefined ? (
            <>
              <Button icon="download" disabled={(read.rows?.length ?? 0) === 0} onClick={() => save(read.rows ?? [])}>
                Export CSV
              </Button>
              <Button disabled={read.isReading} onClick={read.readAgain}>
                Read again
              </Button>
            </>
          ) : undefined
        }
      />
      {notKept === undefined ? (
        <>
          <AskId />
          <Filters edges={edges} />
          <Incomplete told={read.told} />
          <Found read={read} edges={edges} />
        </>
      ) : (
        <NotKept why={notKept} />
      )}
    </>
  );
}

function Found({ read, edges }: { readonly read: Decisions; readonly edges: ReturnType<typeof useEdges> }) {
  const { rows, error } = read;
  const [params, setParams] = useUrlState();
  const names = useNames();
  const columns = useMemo(() => columnsOf(edges, names), [edges, names]);
  const isFiltered = filterNames.some((name) => params.has(name));
  const clear = (): void => setParams(Object.fromEntries(filterNames.map((name) => [name, undefined])));
  return (
    <section className="stack tight">
      <span className="muted" role="status">
        {countWords(read)}
      </span>
      <div className="panel flush">
        {rows === undefined && error !== undefined ? (
          <ErrorState title="Past requests could not be read" error={error} onRetry={read.readAgain} />
        ) : rows === undefined ? (
          <div className="pad">
            <Skeleton lines={8} />
          </div>
        ) : rows.length === 0 && !read.isReading && !read.hasMore ? (
          <Empty
            icon={isFiltered ? 'filter' : 'past'}
            title={isFiltered ? 'No past request fits the filter' : 'Nobody has come since decisions are kept'}
            action={isFiltered ? <Button onClick={clear}>Clear the filter</Button> : undefined}
          />
        ) : (
          <WindowedTable
            label="Past requests, newest first"
            columns={columns}
            rows={rows}
            rowCount={rows.length}
            keyOf={({ id }) => id}
            hrefOf={explanationOf}
          />
        )}
        {rows !== undefined && error !== undefined ? (
          <ErrorState title="Older ones could not be read" error={error} onRetry={read.readMore} />
        ) : null}
        {read.hasMore && error === undefined ? (
          <footer>
            <span className="grow">{read.told?.was_cut_off === true ? cutOff : ''}</span>
            <Button small disabled={read.isReading} onClick={read.readMore}>
              {read.told?.was_cut_off === true ? 'Look further back' : 'Read older ones'}
            </Button>
          </footer>
        ) : null}
      </div>
    </section>
  );
}

const cutOff = 'The search stopped after very many decisions; older ones may fit the filter too.';

function countWords({ rows, hasMore, isReading }: Decisions): string {
  if (rows === undefined) return '';
  if (isReading) return `${countOf(rows.length, 'request', 'requests')} so far, reading on`;
  return `${hasMore ? 'The newest ' : ''}${countOf(rows.length, 'request', 'requests')}`;
}

const csvColumns = [
  'at',
  'id',
  'request_id',
  'kind',
  'verdict',
  'client_ip',
  'person',
  'edge_id',
  'route_id',
  'host',
  'port',
  'method',
  'path',
  'protocol',
  'status',
  'code',
  'module',
  'would_be_refused_by',
  'reason',
  'upstream',
  'duration_ms',
  'upstream_ms',
  'bytes_in',
  'bytes_out',
  'configuration_version',
] as const satisfies readonly (keyof Decision)[];

function save(rows: readonly Decision[]): void {
  saveCsv('gatehouse-past-requests.csv', [
    [...csvColumns, 'restrictions'],
    ...rows.map((row) => [...csvColumns.map((name) => String(row[name] ?? '')), row.restrictions?.join(' ') ?? '']),
  ]);
}
