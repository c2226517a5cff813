import { bool, int, string, timestamp } from '../../../lib/cel/types.ts';
import { Timestamp } from '../../../lib/cel/values.ts';
import { formatIp } from '../../../lib/ip/address.ts';
import type { EndpointFacts } from '../../step.ts';
import type { PolicyVisit } from '../run/policy-visit.ts';
import type { Variables } from './variable.ts';

const nanosOfMs = 1_000_000n;
const nanosOfSecond = 1_000_000_000n;

/** A point in time; whole seconds where it is shown. */
export function timestampOf(ms: number, isWhole = false): Timestamp {
  const nanos = BigInt(Math.floor(ms)) * nanosOfMs;
  return new Timestamp(isWhole ? nanos - (nanos % nanosOfSecond) : nanos);
}

function sourceOf(visit: PolicyVisit): string {
  return visit.cached('source', visit.engine.source, () => formatIp(visit.engine.source));
}

const usualPorts: Readonly<Record<EndpointFacts['protocol'], number>> = { http: 80, https: 443, tls: 443, tcp: 0 };

function endpointOf(visit: PolicyVisit): EndpointFacts {
  return visit.cached('endpoint', visit.engine, () => visit.engine.endpoint());
}

function urlOf({ protocol, host, port }: EndpointFacts): string {
  return `${protocol}://${host}${port === usualPorts[protocol] ? '' : `:${port}`}`;
}

export const connectionVariables: Variables = {
  'conn.client_ip': { type: string, isSure: true, get: sourceOf },
  'conn.client_port': { type: int, isSure: true, get: ({ facts }) => BigInt(facts.clientPort) },
  'conn.server_ip': { type: string, isSure: true, get: ({ facts }) => facts.serverAddress },
  'conn.server_port': { type: int, isSure: true, get: ({ facts }) => BigInt(facts.serverPort) },
  'conn.server_region': { type: string, isSure: true, get: ({ facts }) => facts.serverRegion },
  'conn.bytes_in': { type: int, isSure: true, get: ({ facts }) => BigInt(facts.bytesIn) },
  'conn.bytes_out': { type: int, isSure: true, get: ({ facts }) => BigInt(facts.bytesOut) },
  'conn.ts.start': { type: timestamp, isSure: true, get: ({ facts }) => timestampOf(facts.startedMs, true) },
  'conn.tls.version': { type: string, get: ({ facts }) => facts.tls?.version },
  'conn.tls.cipher_suite': { type: string, get: ({ facts }) => facts.tls?.cipherSuite },
  'conn.tls.negotiated_alpn': { type: string, get: ({ facts }) => facts.tls?.alpn },
  'conn.tls.session_resumed': { type: bool, get: ({ facts }) => facts.tls?.isResumed },
  'conn.tls.sni': {
    type: string,
    get(visit) {
      const { facts } = visit;
      if (facts.tls !== undefined) return facts.tls.sni;
      // The name by which a connection was found whose TLS does not end here, or not yet.
      const { protocol, host } = endpointOf(visit);
      return protocol === 'tls' ? host : undefined;
    },
  },
  'endpoint.id': { type: string, isSure: true, get: (visit) => endpointOf(visit).id },
  'endpoint.url': { type: string, isSure: true, get: (visit) => urlOf(endpointOf(visit)) },
  'endpoint.addr': {
    type: string,
    isSure: true,
    get(visit) {
      const { host, port } = endpointOf(visit);
      return `${host}:${port}`;
    },
  },
  'endpoint.host': { type: string, isSure: true, get: (visit) => endpointOf(visit).host },
  'endpoint.port': { type: int, isSure: true, get: (visit) => BigInt(endpointOf(visit).port) },
  'endpoint.protocol': { type: string, isSure: true, get: (visit) => endpointOf(visit).protocol },
};
