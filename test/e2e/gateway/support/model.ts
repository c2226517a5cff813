import { X509Certificate } from 'node:crypto';

import type { Program } from './program.ts';
import { askHttps, askTcp } from './traffic.ts';
import type { Answered } from './traffic.ts';
import type { Upstream } from './upstream.ts';

/** The model repeats the configuration that was sent to the API, to compute the expected result of traffic. */
export interface Backend {
  readonly id: string;
  upstream: Upstream;
}

export interface Policy {
  readonly id: string;
  /** Ids of rules by the address that they allow. */
  readonly rules: Map<string, string>;
}

export interface Restriction {
  readonly id: string;
  readonly policy: Policy;
  enforced: boolean;
}

export interface Route {
  readonly id: string;
  match: string;
  backend: Backend | undefined;
  /** Undefined while the module is off or unset. */
  policy: Policy | undefined;
  /** Value of the request header `x-added`. */
  added: string | undefined;
  /** Value of the response header `x-response`. */
  responseHeader: string | undefined;
}

export interface Site {
  readonly id: string;
  host: string;
  readonly routes: Route[];
  certificate: { readonly id: string; readonly fingerprint: string } | undefined;
}

export interface TcpSite {
  readonly id: string;
  port: number;
  backend: Backend;
  policy: Policy | undefined;
}

export interface Model {
  readonly httpsPort: number;
  readonly upstreams: readonly Upstream[];
  readonly backends: readonly Backend[];
  readonly policies: readonly Policy[];
  restriction: Restriction | undefined;
  readonly sites: Site[];
  readonly tcpSites: TcpSite[];
}

/** Creates three policies without rules, and a backend for each upstream. */
export async function startModel(
  program: Program,
  token: string | undefined,
  upstreams: readonly Upstream[],
): Promise<Model> {
  const backends: Backend[] = [];
  for (const upstream of upstreams) {
    const { id } = await program.must('POST', '/backends/static', { address: `127.0.0.1:${upstream.port}` }, token);
    backends.push({ id, upstream });
  }
  const policies: Policy[] = [];
  for (let at = 0; at < 3; at++) {
    const { id } = await program.must('POST', '/ip_policies', {}, token);
    policies.push({ id, rules: new Map() });
  }
  const { httpsPort } = program;
  return { httpsPort, upstreams, backends, policies, restriction: undefined, sites: [], tcpSites: [] };
}

const localCaIssuer = 'local CA';

/** Result of one request, as plain values to compare. */
export interface Outcome {
  readonly status: number;
  readonly errorCode?: number | undefined;
  readonly upstream?: string | undefined;
  readonly added?: string | undefined;
  readonly responseHeader?: string | undefined;
  readonly certificate?: string | undefined;
}

export const refusedConnection = 'refused';

export function expectedHttps(model: Model, site: Site, path: string, from: string): Outcome {
  const certificate = site.certificate?.fingerprint ?? localCaIssuer;
  const { restriction } = model;
  if (restriction?.enforced === true && !restriction.policy.rules.has(from)) {
    return { status: 403, errorCode: 3205, certificate };
  }
  const [route] = site.routes
    .filter(({ match }) => match === '/' || path === match || path.startsWith(`${match}/`))
    .toSorted((a, b) => b.match.length - a.match.length);
  if (route === undefined) return { status: 404, errorCode: 20100, certificate };
  if (route.policy !== undefined && !route.policy.rules.has(from)) return { status: 403, errorCode: 3203, certificate };
  if (route.backend === undefined) return { status: 503, errorCode: 6528, certificate };
  const { added, responseHeader } = route;
  return { status: 200, upstream: route.backend.upstream.name, added, responseHeader, certificate };
}

export async function requestHttps(model: Model, host: string, path: string, from: string): Promise<unknown> {
  let answer: Answered;
  try {
    answer = await askHttps(model.httpsPort, host, { path, from });
  } catch (error) {
    return describeFailure(error);
  }
  const { status, errorCode, echo, headers, certificate } = answer;
  const responseHeader = headers['x-response'];
  return withoutUndefined({
    status,
    errorCode,
    upstream: echo?.name,
    added: echo?.headers['x-added'],
    responseHeader: typeof responseHeader === 'string' ? responseHeader : undefined,
    certificate: nameCertificate(certificate),
  });
}

export function expectedTcp(model: Model, { policy, backend }: TcpSite, from: string): string {
  const { restriction } = model;
  const allowed =
    (restriction?.enforced !== true || restriction.policy.rules.has(from)) &&
    (policy === undefined || policy.rules.has(from));
  return allowed ? backend.upstream.name : refusedConnection;
}

export async function requestTcp(port: number, from: string): Promise<string> {
  try {
    return (await askTcp(port, { from })).echo?.name ?? 'no echo';
  } catch (error) {
    return describeFailure(error);
  }
}

/** Removes undefined fields, which `deepEqual` distinguishes from missing ones. */
export function withoutUndefined(outcome: Outcome): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(outcome).filter(([, value]) => value !== undefined));
}

/** Returns `refused` if no edge serves the name or port, or the source is not allowed. */
function describeFailure(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return ['ECONNRESET', 'ECONNREFUSED', 'EPROTO'].includes(code) ? refusedConnection : String(error);
}

function nameCertificate(certificate: X509Certificate | undefined): string {
  if (certificate === undefined) return 'none';
  return certificate.issuer.includes('Gatehouse local CA') ? localCaIssuer : certificate.fingerprint256;
}
