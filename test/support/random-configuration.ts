import fc from 'fast-check';

import { ClientAuthority } from './client-certificates.ts';

const authority = new ClientAuthority('random');

const text = fc
  .string({ unit: 'grapheme', maxLength: 20 })
  .filter((each) => each.isWellFormed() && !each.includes('\0'));
const texts = fc.record({ description: text, metadata: text }, { requiredKeys: [] });
const index = fc.nat({ max: 2 });
const flag = fc.boolean();
export const randomRule = fc.oneof(
  fc.nat({ max: 255 }).map((at) => `10.${at}.0.0/16`),
  fc.nat({ max: 255 }).map((at) => `!192.0.${at}.0/24`),
);
export const cidrOf = (each: string) => each.replace('!', '');
const backendModule = fc.record({ enabled: flag, backend: index.map((at) => `backend-${at}`) });
const ipModule = fc.record({
  enabled: flag,
  ip_policies: fc.uniqueArray(index, { minLength: 1 }).map((all) => all.map((at) => `policy-${at}`)),
});
const headers = fc.record({
  add: fc.dictionary(fc.constantFrom('x-a', 'x-b', '__proto__'), fc.constantFrom('', 'v', 'w w')),
  remove: fc.uniqueArray(fc.constantFrom('x-c', 'x-d')),
});
const route = fc.record(
  {
    description: text,
    match_type: fc.constantFrom('path_prefix', 'exact_path'),
    backend: backendModule,
    ip_restriction: ipModule,
    request_headers: headers,
    response_headers: headers,
    compression: fc.record({ enabled: flag }),
  },
  { requiredKeys: [] },
);
/** What the configuration of one account may be. */
export const randomConfiguration = fc.record({
  policies: fc.array(fc.tuple(texts, fc.uniqueArray(randomRule, { selector: cidrOf, maxLength: 5 })), {
    minLength: 3,
    maxLength: 3,
  }),
  restrictions: fc.array(fc.tuple(texts, flag, ipModule), { maxLength: 2 }),
  backends: fc.array(fc.tuple(texts, flag, flag), { minLength: 3, maxLength: 3 }),
  tcp: fc.array(
    fc.tuple(texts, fc.record({ backend: backendModule, ip_restriction: ipModule }, { requiredKeys: [] })),
    { maxLength: 3 },
  ),
  https: fc.array(fc.tuple(texts, fc.dictionary(fc.constantFrom('/', '/a', '/a/b', '/ü'), route)), { maxLength: 3 }),
  domains: fc.array(texts, { maxLength: 2 }),
  addrs: fc.array(texts, { maxLength: 2 }),
  answers: fc.array(fc.tuple(texts, fc.constantFrom(200, 503)), { maxLength: 2 }),
  groups: fc.array(fc.tuple(texts, fc.nat({ max: 100 }), flag), { maxLength: 2 }),
  authorities: fc.array(texts, { maxLength: 1 }),
  tls: fc.array(fc.tuple(texts, fc.record({ backend: backendModule }, { requiredKeys: [] })), { maxLength: 2 }),
  endpoints: fc.array(fc.tuple(texts, fc.constantFrom(403, 404), flag), { maxLength: 2 }),
  vaults: fc.array(texts, { maxLength: 2 }),
});
type RandomConfiguration = typeof randomConfiguration extends fc.Arbitrary<infer Value> ? Value : never;

export function toEntries(made: RandomConfiguration): readonly object[] {
  const { policies, restrictions, backends, tcp, https, domains, addrs } = made;
  const { answers, groups, authorities, tls, endpoints, vaults } = made;
  return [
    ...policies.map(([own, rules], at) => ({ kind: 'ip_policies', name: `policy-${at}`, ...own, rules })),
    ...restrictions.map(([own, enforced, { ip_policies }], at) => ({
      kind: 'ip_restrictions',
      name: `restriction-${at}`,
      ...own,
      type: 'endpoints',
      enforced,
      ip_policies,
    })),
    ...backends.map(([own, isGroup, enabled], at) =>
      isGroup
        ? { kind: 'tunnel_group_backends', name: `backend-${at}`, ...own, labels: { app: `a${at}` } }
        : { kind: 'static_backends', name: `backend-${at}`, ...own, address: `a:${at + 1}`, tls: { enabled } },
    ),
    ...tcp.map(([own, modules], at) => ({
      kind: 'tcp_edges',
      name: `t-${at}`,
      ...own,
      hostports: [`a:${10_000 + at}`],
      ...modules,
    })),
    ...https.map(([own, routes], at) => ({
      kind: 'https_edges',
      name: `h-${at}`,
      ...own,
      hostports: [`h-${at}.example:443`],
      routes,
    })),
    ...domains.map((own, at) => ({ kind: 'reserved_domains', name: `d-${at}`, ...own, domain: `d-${at}.example` })),
    ...addrs.map((own, at) => ({ kind: 'reserved_addrs', name: `r-${at}`, ...own, port: 10_000 + at })),
    ...answers.map(([own, status_code], at) => ({
      kind: 'http_response_backends',
      name: `answer-${at}`,
      ...own,
      status_code,
    })),
    ...groups.map(([own, weight, isWeighted], at) =>
      isWeighted
        ? { kind: 'weighted_backends', name: `group-${at}`, ...own, backends: { 'backend-0': weight, 'backend-1': 1 } }
        : { kind: 'failover_backends', name: `group-${at}`, ...own, backends: ['backend-1', 'backend-2'] },
    ),
    ...authorities.map((own, at) => ({
      kind: 'certificate_authorities',
      name: `ca-${at}`,
      ...own,
      ca_pem: authority.pem,
    })),
    ...tls.map(([own, modules], at) => ({
      kind: 'tls_edges',
      name: `s-${at}`,
      ...own,
      hostports: [`s-${at}.example:443`],
      ...modules,
    })),
    ...endpoints.map(([own, status_code, pooling_enabled], at) => ({
      kind: 'cloud_endpoints',
      name: `e-${at}`,
      ...own,
      url: `https://e-${at}.internal`,
      traffic_policy: JSON.stringify({ on_http_request: [{ actions: [{ type: 'deny', config: { status_code } }] }] }),
      pooling_enabled,
    })),
    ...vaults.map((own, at) => ({ kind: 'vaults', name: `v-${at}`, ...own, vault: `vault-${at}` })),
  ];
}
