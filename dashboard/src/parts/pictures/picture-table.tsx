import { Link } from 'wouter';

import type { DecisionSummary } from '../../../../client/src/index.ts';
import { formatNumber } from '../../lib/text.ts';
import { pastRequests } from '../past-requests.ts';
import type { Range, RequestFilter } from '../past-requests.ts';
import { filterOf, inWords, labelOf } from './picture-data.ts';
import type { SummaryPoint } from './picture-data.ts';

interface Column {
  readonly head: string;
  readonly text: (point: SummaryPoint) => string;
}

const ms = (value: number | null): string => (value === null ? '' : formatNumber(Math.round(value)));
const columns: readonly Column[] = [
  { head: 'Requests', text: ({ requests }) => formatNumber(requests) },
  { head: 'Usual', text: ({ usual }) => (usual === null ? '' : formatNumber(Math.round(usual.requests))) },
  { head: 'Refused', text: ({ refused }) => formatNumber(refused) },
  { head: 'Warned', text: ({ warned }) => formatNumber(warned) },
  { head: '4xx', text: ({ errors_4xx: count }) => formatNumber(count) },
  { head: '5xx', text: ({ errors_5xx: count }) => formatNumber(count) },
  { head: 'Median, ms', text: ({ p50_ms: p50 }) => ms(p50) },
  { head: '95th, ms', text: ({ p95_ms: p95 }) => ms(p95) },
];

/** The pictures as numbers, for those who do not see them; intervals without anybody are left out. */
export function PictureTable({
  summary: { points, step },
  range,
  links,
}: {
  readonly summary: DecisionSummary;
  readonly range: Range;
  readonly links: RequestFilter;
}) {
  const busy = points.filter(({ requests }) => requests > 0);
  return (
    <details className="as-table">
      <summary>As a table</summary>
      {busy.length === 0 ? (
        <p className="muted">Nobody came {inWords[range]}.</p>
      ) : (
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- whoever has no mouse scrolls it with the arrow keys
        <div className="scrolls" role="region" aria-label="Traffic as a table" tabIndex={0}>
          <table className="tbl dense">
            <thead>
              <tr>
                <th scope="col">From</th>
                {columns.map(({ head }) => (
                  <th key={head} scope="col" className="num">
                    {head}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {busy.map((point) => (
                <tr key={point.at}>
                  <th scope="row">
                    <Link to={pastRequests(filterOf(point, step, links))}>{labelOf(point.at, range)}</Link>
                  </th>
                  {columns.map(({ head, text }) => (
                    <td key={head} className="num">
                      {text(point)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </details>
  );
}
