import type { ReactNode } from 'react';
import { Link } from 'wouter';

import { useList } from '../../api/queries.ts';
import type { TrafficEvent } from '../../../../client/src/index.ts';
import { CopyButton, Id } from '../../components/copy.tsx';
import { Icon } from '../../components/icon.tsx';
import { Facts } from '../../components/page.tsx';
import { Sheet } from '../../components/sheet.tsx';
import { Glyph } from '../../components/verdict.tsx';
import { formatBytes } from '../../lib/bytes.ts';
import { nameOf, shortId } from '../../lib/text.ts';
import { formatExactly } from '../../lib/time.ts';
import type { EdgeNames } from '../../parts/edge-names.ts';
import { useNames } from '../../parts/names.ts';
import { explanationOf, pastRequests } from '../../parts/past-requests.ts';
import { formatMs, verdictTones } from '../../parts/traffic-words.ts';
import { titleOfEvent } from './traffic-words.ts';

/** One request or connection, from the edge to the answer: what decided, what was changed, how long it took. */
export function EventSheet({
  event,
  edges,
  onClose,
}: {
  readonly event: TrafficEvent;
  readonly edges: EdgeNames;
  readonly onClose: () => void;
}) {
  const edgePage =
    event.kind !== 'tcp' ? 'https-edges' : event.edge_id.startsWith('edgtls_') ? 'tls-edges' : 'tcp-edges';
  return (
    <Sheet title={titleOfEvent(event)} onClose={onClose}>
      <Facts
        list
        facts={[
          [
            event.kind === 'tcp' ? 'Connection' : 'Request',
            <code key="request">
              {event.method ?? 'TCP'} {event.path ?? event.hostport}
            </code>,
          ],
          [
            'Source',
            <span key="source">
              <code>{event.client_ip}</code> <CopyButton text={event.client_ip} />{' '}
              <Link to={`/who-gets-in?ip=${encodeURIComponent(event.client_ip)}`}>Who gets in?</Link>
              {' · '}
              <Link to={pastRequests({ source: event.client_ip })}>Past requests</Link>
            </span>,
          ],
          ['At', formatExactly(event.at)],
          ['Id', <Id key="id" id={event.id} />],
          event.verdict === 'refused'
            ? [
                'Why',
                <Link key="why" to={explanationOf(event)}>
                  Then and today
                </Link>,
              ]
            : undefined,
        ]}
      />
      <ol className="ladder">
        <Step glyph={<Icon name={event.kind === 'tcp' ? 'plug' : 'globe'} />}>
          <b>
            Edge <Link to={`/${edgePage}/${event.edge_id}`}>{edges.nameOf(event.edge_id, event.hostport)}</Link>
          </b>
          <p>
            <code>{event.hostport}</code>
            {event.protocol === undefined ? null : `, HTTP/${event.protocol}`}
          </p>
        </Step>
        <RouteStep event={event} edges={edges} />
        <DecisionStep event={event} />
        <HeaderStep title="Request headers" added={event.headers_added} removed={event.headers_removed} />
        <UpstreamStep event={event} />
        <HeaderStep
          title="Response headers"
          added={event.response_headers_added}
          removed={event.response_headers_removed}
        />
        <Step glyph={<Glyph tone={verdictTones[event.verdict]} />} ms={event.duration_ms}>
          <b>{titleOfEvent(event)}</b>
          <p>{bytesOf(event)}</p>
        </Step>
      </ol>
      <Times event={event} />
      <p className="muted fine">Bodies, cookies and the values of headers and queries are never kept.</p>
    </Sheet>
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

function RouteStep({ event, edges }: { readonly event: TrafficEvent; readonly edges: EdgeNames }) {
  if (event.kind === 'tcp') return null;
  if (event.route_id === undefined) {
    return (
      <Step glyph={<Glyph tone="off" />}>
        <b>No route</b>
        <p>It was answered before a route was looked for, or none matches.</p>
      </Step>
    );
  }
  return (
    <Step glyph={<Icon name="right" />}>
      <b>Route {edges.routeMatch(event.route_id) ?? event.route_id}</b>
    </Step>
  );
}

function DecisionStep({ event }: { readonly event: TrafficEvent }) {
  const names = useNames();
  const { rule, restrictions = [], module, would_be_refused_by: notEnforced, reason, code, verdict } = event;
  return (
    <Step glyph={<Glyph tone={verdictTones[verdict]} />}>
      <b>{decisionWords[verdict]}</b>
      {notEnforced === undefined ? null : (
        <p>
          <code>{notEnforced}</code> would have refused it, but is not enforced.
        </p>
      )}
      {module === undefined ? null : (
        <p>
          By the module <code>{module}</code>.
        </p>
      )}
      {reason === undefined ? null : (
        <p>
          {reason}
          {code === undefined ? null : (
            <>
              {' '}
              <code>{code}</code>
            </>
          )}
        </p>
      )}
      {rule === undefined && restrictions.length === 0 ? null : (
        <ul className="rules">
          {rule === undefined ? null : (
            <li className="decides">
              <span className="mono">{rule.cidr}</span>
              <span>{rule.action} · decides</span>
              <span className="end">
                <Link to={`/ip-policies/${rule.policy_id}`}>{names.policy(rule.policy_id)}</Link>
              </span>
            </li>
          )}
          {restrictions.map((id) => (
            <li key={id}>
              <Link to={`/ip-restrictions/${id}`}>{names.restriction(id).name}</Link>
              <span className="end">IP restriction</span>
            </li>
          ))}
        </ul>
      )}
    </Step>
  );
}

const decisionWords = {
  allowed: 'Let in',
  refused: 'Refused',
  warned: 'Let in: something that only warns would have refused it',
} as const;

const none: readonly string[] = [];

function HeaderStep({
  title,
  added = none,
  removed = none,
}: {
  readonly title: string;
  readonly added: readonly string[] | undefined;
  readonly removed: readonly string[] | undefined;
}) {
  if (added.length === 0 && removed.length === 0) return null;
  return (
    <li>
      <Icon name="headers" />
      <div className="t">
        <b>{title}</b>
      </div>
      <span />
      <div className="diff">
        {added.map((name) => (
          <div key={`+${name}`} className="add">
            <span className="vh">added: </span>
            {name}
          </div>
        ))}
        {removed.map((name) => (
          <div key={`-${name}`} className="del">
            <span className="vh">removed: </span>
            {name}
          </div>
        ))}
      </div>
    </li>
  );
}

function UpstreamStep({ event: { upstream, upstream_ms: ms, verdict } }: { readonly event: TrafficEvent }) {
  const { data: backends } = useList('StaticBackendsList');
  const backend = backends?.find(({ id }) => id === upstream);
  const backendName = backend === undefined ? undefined : `${nameOf(backend)}, ${backend.address}`;
  if (upstream === undefined) {
    return verdict === 'refused' ? (
      <Step glyph={<Glyph tone="off" />}>
        <b>The upstream was not contacted</b>
      </Step>
    ) : null;
  }
  return (
    <Step glyph={<Icon name="server" />} ms={ms}>
      <b>Upstream</b>
      <p>
        {upstream.startsWith('bkd') ? (
          <Link to={`/backends/${upstream}`}>{backendName ?? shortId(upstream)}</Link>
        ) : (
          <code>{shortId(upstream)}</code>
        )}
      </p>
    </Step>
  );
}

function bytesOf({ bytes_in: received, bytes_out: sent }: TrafficEvent): string {
  return [
    received === undefined ? '' : `${formatBytes(received)} received`,
    sent === undefined ? '' : `${formatBytes(sent)} sent`,
  ]
    .filter((part) => part !== '')
    .join(', ');
}

/** How long it waited for the upstream, and how long for everything else. */
function Times({ event: { duration_ms: total, upstream_ms: upstream } }: { readonly event: TrafficEvent }) {
  if (upstream === undefined || total === undefined || total <= 0) return null;
  const own = Math.max(0, total - upstream);
  const share = Math.min(100, (upstream / total) * 100);
  return (
    <div className="time">
      <span>Upstream</span>
      <i className="up" style={{ width: `${share}%` }} />
      <span className="num">{formatMs(upstream)} ms</span>
      <span>Everything else</span>
      <i style={{ width: `${100 - share}%`, marginLeft: `${share}%` }} />
      <span className="num">{formatMs(own)} ms</span>
    </div>
  );
}
