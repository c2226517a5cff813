import { useMemo } from 'react';

import type { Decision } from '../../../../client/src/index.ts';
import { useOne } from '../../api/queries.ts';
import { ButtonLink } from '../../components/button.tsx';
import { Panel } from '../../components/page.tsx';
import { ErrorState, Skeleton } from '../../components/states.tsx';
import { WindowedTable } from '../../components/windowed-table.tsx';
import { useEdges } from '../../parts/edge-names.ts';
import { useNames } from '../../parts/names.ts';
import { explanationOf, pastRequests } from '../../parts/past-requests.ts';
import { columnsOf } from './columns.tsx';
import { isoSeconds } from '../../lib/picture-times.ts';

/** Time after the request of which others are shown with it. */
const afterMs = 60_000;
const mostRows = 10;

/** Other requests of the same visitor, up to a minute later. */
export function AroundIt({ decision: { id, at, client_ip: ip } }: { readonly decision: Decision }) {
  const edges = useEdges();
  const names = useNames();
  const columns = useMemo(() => columnsOf(edges, names), [edges, names]);
  const until = isoSeconds(Date.parse(at) + afterMs);
  const { data, error, retry } = useOne('DecisionsList', { query: { source: ip, until, limit: mostRows + 1 } });
  const rows = data?.document.decisions.filter((each) => each.id !== id).slice(0, mostRows);
  return (
    <Panel
      title="Around it"
      note="the same source, until a minute later"
      flush
      action={<ButtonLink to={pastRequests({ source: ip })}>Show all</ButtonLink>}
    >
      {error !== undefined && rows === undefined ? (
        <ErrorState title="Others could not be read" error={error} onRetry={retry} />
      ) : rows === undefined ? (
        <div className="pad">
          <Skeleton />
        </div>
      ) : rows.length === 0 ? (
        <p className="pad muted">It is the only one that is kept.</p>
      ) : (
        <WindowedTable
          label="Requests of the same source"
          columns={columns}
          rows={rows}
          rowCount={rows.length}
          keyOf={(row) => row.id}
          hrefOf={explanationOf}
        />
      )}
    </Panel>
  );
}
