import type { Phase } from '../phases.ts';

const noLists = 'there is no list of categories of addresses';

const always: Readonly<Record<string, string>> = {
  'conn.server_ip.geo': 'places of the gateway are not told',
  'conn.client_ip.geo.registered_location': 'the place of an address is told, and no other',
  'conn.client_ip.categories': noLists,
  'conn.server_ip.categories': noLists,
  'conn.client_ip.is_on_blocklist': noLists,
  'conn.server_ip.is_on_blocklist': noLists,
  'conn.client_ip.is_tor_node': noLists,
  'conn.server_ip.is_tor_node': noLists,
  'conn.client_ip.as': 'there is no database of autonomous systems',
  'conn.server_ip.as': 'there is no database of autonomous systems',
  'conn.k8s': 'there are no bindings of Kubernetes',
  'conn.tls.ja4_fingerprint': 'the first message of a handshake is not kept',
  'conn.tls.client.extensions': 'extensions of certificates are not told apart',
  'conn.tls.client.signature_algorithm': 'it is not told',
  'conn.tls.server': 'certificates of the gateway are not told',
  'req.trailers': 'they come after the body, when the rules have run',
  'res.trailers': 'they come after the body, when the rules have run',
  'req.ts.body_received': 'rules run before the body has come',
  'http.*()': 'it is not documented; use the action http-request',
  'security.*()': 'it is not documented; use secrets.get()',
  'utility.*()': 'it is not documented',
};

const onlyHttp = 'it is known in on_http_request and on_http_response alone';
const onlyAnswers = 'it is known in on_http_response alone';
const ofRequests = ['getReqHeader', 'hasReqHeader', 'getReqCookie', 'hasReqCookie', 'getQueryParam', 'hasQueryParam'];
const ofAnswers = ['getResHeader', 'hasResHeader', 'getResCookie', 'hasResCookie'];

/** Names that a phase does not offer, each with the reason. */
export function whyNotOffered(phase: Phase): ReadonlyMap<string, string> {
  const more: Record<string, string> = {};
  if (phase === 'on_tcp_connect') {
    more['req'] = onlyHttp;
    for (const name of ofRequests) more[`${name}()`] = onlyHttp;
  }
  if (phase !== 'on_http_response') {
    more['res'] = onlyAnswers;
    for (const name of ofAnswers) more[`${name}()`] = onlyAnswers;
  }
  return new Map(Object.entries({ ...always, ...more }));
}
