import type { IpAddress } from '../../../lib/ip/address.ts';
import { blankVisit, servicesOfDescribed, unknown } from '../../not-described.ts';
import type { AccessRules, ConnectionFacts, EndpointFacts, HeaderList, RequestVisit } from '../../step.ts';

/** A visit as somebody describes it. */
export interface DescribedRequest {
  readonly source: IpAddress;
  readonly endpoint: Omit<EndpointFacts, 'id'>;
  /** Host, and port where it is not the usual one. */
  readonly host: string;
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** All that it has. */
  readonly headers: HeaderList;
  /** Name of the region of the gateway; undefined: nobody knows where the visitor arrives. */
  readonly region: string | undefined;
  /** Variables that each phase begins with. */
  readonly vars: Readonly<Record<string, string>>;
  /** Answer of the upstream; undefined: nobody knows it. */
  readonly response: { readonly status: number; readonly headers: HeaderList } | undefined;
}

/** A visit of which no more is known than what was described, and which has no effect outside of itself. */
export function describedVisit(
  { source, endpoint, host, method, target, headers, region }: DescribedRequest,
  access: Pick<AccessRules, 'allows' | 'denies'>,
): RequestVisit {
  const { protocol, port } = endpoint;
  const url = `${protocol}://${host}${target}`;
  return {
    ...blankVisit(),
    source,
    hostname: endpoint.host,
    facts: () => factsOf(port, region),
    endpoint: () => ({
      ...endpoint,
      get id() {
        return unknown('the id of the endpoint')();
      },
    }),
    method,
    httpVersion: '1.1',
    host,
    target,
    upstreamTarget: target,
    urls: [url],
    headers,
    outgoing: headers,
    body: undefined,
    kept: unknown('what earlier requests have left'),
    services: servicesOfDescribed(access),
    get isTls13() {
      return unknown('the version of TLS')();
    },
    get certificate() {
      return unknown('the certificate of the visitor')();
    },
  };
}

function factsOf(serverPort: number, region: string | undefined): ConnectionFacts {
  return {
    serverPort,
    get serverRegion() {
      return region ?? unknown('the region of the gateway')();
    },
    startedMs: Date.now(),
    get clientPort() {
      return unknown('the port of the client')();
    },
    get serverAddress() {
      return unknown('the address that was visited')();
    },
    get bytesIn() {
      return unknown('the bytes that were sent')();
    },
    get bytesOut() {
      return unknown('the bytes that were sent')();
    },
    get tls() {
      return unknown('what was agreed on with TLS')();
    },
  };
}
