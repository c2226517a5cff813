import type { ReactNode } from 'react';
import { Link } from 'wouter';

import type { Decision } from '../../../../client/src/index.ts';
import { Icon } from '../../components/icon.tsx';
import { Strange } from '../../components/strange.tsx';
import { Glyph } from '../../components/verdict.tsx';
import { formatBytes } from '../../lib/bytes.ts';
import { visible } from '../../lib/strangers.ts';
import { shortId } from '../../lib/text.ts';
import { useEdges } from '../../parts/edge-names.ts';
import { useNames } from '../../parts/names.ts';
import { formatMs, verdictTones } from '../../parts/traffic-words.ts';
import { causeOf } from './cause.ts';
import { pathOfEdge } from './paths.ts';

/** The way of a past request, as far as its decision tells it. */
export function ThenLadder({ decision }: { readonly decision: Decision }) {
  const edges = useEdges();
  const names = useNames();
  const { edge_id: edgeId, route_id: routeId, host, verdict, upstream, upstream_ms: upstreamMs } = decision;
  const cause = causeOf(decision, names);
  return (
    <ol className="ladder">
      <Step glyph={<Icon name={decision.kind === 'tcp' ? 'plug' : 'globe'} />}>
        <b>
          Edge <Link to={pathOfEdge(edgeId)}>{edges.nameOf(edgeId, shortId(edgeId))}</Link>
        </b>
        <p>
          {host === undefined ? null : <Strange isMono text={host} />}
          {routeId === undefined ? '' : `, route ${edges.routeMatch(routeId) ?? shortId(routeId)}`}
        </p>
      </Step>
      {cause === undefined ? null : (
        <Step glyph={<Glyph tone={verdictTones[verdict]} />}>
          <b>{cause.to === undefined ? visible(cause.text) : <Link to={cause.to}>{visible(cause.text)}</Link>}</b>
          <p>{verdict === 'warned' ? 'It would have refused, but is not enforced.' : 'It refused the visitor.'}</p>
        </Step>
      )}
      {upstream === undefined ? null : (
        <Step glyph={<Icon name="server" />} ms={upstreamMs}>
          <b>Upstream</b>
          <p>
            {upstream.startsWith('bkd') ? (
              <Link to={`/backends/${upstream}`}>{shortId(upstream)}</Link>
            ) : (
              <code>{shortId(upstream)}</code>
            )}
          </p>
        </Step>
      )}
      <EndStep decision={decision} />
    </ol>
  );
}

function Step({
  glyph,
  ms,
  children,
}: {
  readonly glyph: ReactNode;
  readonly ms?: number | undefined;
  readonly children: ReactNode;
}) {
  return (
    <li>
      {glyph}
      <div className="t">{children}</div>
      {ms === undefined ? null : <span className="ms">{formatMs(ms)} ms</span>}
    </li>
  );
}

/** How it ended. */
export function EndStep({ decision }: { readonly decision: Decision }) {
  const { verdict, upstream } = decision;
  return (
    <Step glyph={<Glyph tone={verdictTones[verdict]} />} ms={decision.duration_ms}>
      <b>{endOf(decision)}</b>
      <p>{upstream === undefined && verdict === 'refused' ? 'The upstream was not asked.' : bytesOf(decision)}</p>
    </Step>
  );
}

function endOf({ kind, status, verdict, reason }: Decision): string {
  if (kind === 'tcp')
    return verdict === 'refused' ? 'Reset' : `Closed${reason === undefined ? '' : `: ${visible(reason)}`}`;
  return status === undefined ? 'Ended without an answer' : `Answered with ${status}`;
}

function bytesOf({ bytes_in: received = 0, bytes_out: sent = 0 }: Decision): string {
  return `${formatBytes(received)} received, ${formatBytes(sent)} sent`;
}
