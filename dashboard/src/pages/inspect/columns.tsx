import { Link } from 'wouter';

import type { Column } from '../../components/table.tsx';
import { Verdict } from '../../components/verdict.tsx';
import { formatBytes } from '../../lib/bytes.ts';
import { visible } from '../../lib/strangers.ts';
import { formatSeconds } from '../../lib/time.ts';
import { formatMs } from '../../parts/traffic-words.ts';
import type { Inspected } from './use-inspection.ts';

const switched = 101;

export function columnsOf(hrefOf: (request: Inspected) => string): readonly Column<Inspected>[] {
  return [
    {
      id: 'time',
      head: 'Time',
      priority: 'p2',
      isNarrow: true,
      cell: ({ at }) => (
        <time className="mono muted" dateTime={at} title={at}>
          {formatSeconds(at)}
        </time>
      ),
    },
    {
      id: 'request',
      head: 'Request',
      width: '80%',
      cell: (request) => (
        <>
          <Link className="main mono request" to={hrefOf(request)} data-row-link>
            <span className="muted">{visible(request.method)}</span> <bdi>{visible(request.target)}</bdi>
          </Link>
          <Badges request={request} />
        </>
      ),
    },
    { id: 'status', head: 'Status', isNumber: true, cell: (request) => <Status request={request} /> },
    {
      id: 'ms',
      head: 'ms',
      priority: 'p1',
      isNumber: true,
      cell: ({ duration_ms: ms }) => formatMs(ms),
    },
    {
      id: 'body',
      head: 'Body',
      priority: 'p2',
      isNumber: true,
      cell: ({ request }) => (request.body_bytes === 0 ? '–' : formatBytes(request.body_bytes)),
    },
  ];
}

function Badges({
  request: { replay_of: replay, request, answer, is_whole: isWhole },
}: {
  readonly request: Inspected;
}) {
  const words = [
    replay === undefined ? undefined : replay.is_edited ? 'Replay, edited' : 'Replay',
    answer?.status === switched ? 'Upgraded' : undefined,
    request.body_bytes > 0 && request.body_kept !== 'whole' ? 'Body not kept whole' : undefined,
    answer !== undefined && !isWhole ? 'Cut off' : undefined,
  ].filter((each) => each !== undefined);
  return words.map((each) => (
    <span key={each} className="badge plain">
      {each}
    </span>
  ));
}

function Status({ request: { answer } }: { readonly request: Inspected }) {
  if (answer === undefined) return <Verdict tone="deny">none</Verdict>;
  return answer.status >= 500 ? <Verdict tone="deny">{answer.status}</Verdict> : answer.status;
}
