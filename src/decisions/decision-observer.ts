import type { HttpAnswered, HttpDecision, TcpClosed, TcpDecision, TrafficObserver } from '../gateway/engine.ts';
import { httpVerdict, passedAs, restrictionsOf } from '../observe/verdicts.ts';
import type { Decision } from './decision-line.ts';

interface Keeping {
  add(accountId: string, decision: Decision): void;
}

/** Makes decisions of the events of traffic: of every request, and of every connection that was refused or has ended. */
export function decisionObserver(
  decisions: Keeping,
): Pick<TrafficObserver, 'httpAnswered' | 'tcpOpened' | 'tcpClosed'> {
  return {
    httpAnswered(event, decision) {
      const { accountId } = decision;
      if (accountId !== undefined && event.edgeId !== undefined) decisions.add(accountId, ofRequest(event, decision));
    },
    tcpOpened(event, decision) {
      if (event.verdict === 'allowed') return;
      const closed = { ...event, ...nothingMoved, reason: event.reason ?? '' };
      decisions.add(decision.accountId, ofConnection(closed, decision, 'refused'));
    },
    tcpClosed(event, decision) {
      if (decision !== undefined) decisions.add(decision.accountId, ofConnection(event, decision, passedAs(decision)));
    },
  };
}

const nothingMoved = { bytesIn: 0, bytesOut: 0, durationMs: 0 };

function ofRequest(event: HttpAnswered, decision: HttpDecision): Decision {
  const { operationId = '', edgeId = '', routeId = '', source, host, method, path, protocol, status } = event;
  const { errorCode = 0, durationMs, upstreamMs } = event;
  const { module = '', wouldRefuse = '', reason = '', backendId = '' } = decision;
  const verdict = httpVerdict(event.errorCode, decision);
  return {
    at_ms: Date.now(),
    kind: 'https',
    verdict,
    request_id: operationId,
    edge_id: edgeId,
    route_id: routeId,
    source,
    port: 0,
    host,
    method,
    path,
    protocol,
    status,
    code: errorCode,
    module,
    rule: restrictionsOf(verdict, decision).join(' '),
    would_be_refused_by: wouldRefuse,
    reason,
    person: decision.person ?? '',
    backend_id: backendId,
    duration_us: Math.round(durationMs * 1000),
    upstream_us: upstreamMs === undefined ? -1 : Math.round(upstreamMs * 1000),
    bytes_in: decision.bytesIn ?? 0,
    bytes_out: decision.bytesOut ?? 0,
    configuration_version: decision.version ?? 0,
    worker: decision.worker ?? 0,
  };
}

function ofConnection(event: TcpClosed, decision: TcpDecision, verdict: 'allowed' | 'warned' | 'refused'): Decision {
  const { edgeId, source, bytesIn, bytesOut, durationMs, reason } = event;
  const { connectionId, claim, module = '', wouldRefuse = '', backendId = '' } = decision;
  return {
    at_ms: Date.now(),
    kind: 'tcp',
    verdict,
    request_id: connectionId,
    edge_id: edgeId,
    route_id: '',
    source,
    port: typeof claim === 'number' ? claim : 0,
    host: typeof claim === 'number' ? '' : claim,
    method: '',
    path: '',
    protocol: '',
    status: 0,
    code: 0,
    module,
    rule: restrictionsOf(verdict, decision).join(' '),
    would_be_refused_by: wouldRefuse,
    reason,
    person: '',
    backend_id: backendId,
    duration_us: Math.round(durationMs * 1000),
    upstream_us: -1,
    bytes_in: bytesIn,
    bytes_out: bytesOut,
    configuration_version: decision.version ?? 0,
    worker: decision.worker ?? 0,
  };
}
