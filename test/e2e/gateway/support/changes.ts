import type { CertificatePair } from '../../../support/certificate-pair.ts';
import type { Model, Policy, Route, Site, TcpSite } from './model.ts';
import type { Program } from './program.ts';
import type { Random } from './random.ts';

/** Something that a change affects, to be requested right after it. */
export type Touched =
  | { readonly site: Site; readonly path: string }
  | { readonly tcp: TcpSite }
  | {
      readonly goneHost: string;
      /** Fingerprint of the certificate that is still uploaded for it. */
      readonly certificate: string | undefined;
    }
  | { readonly gonePort: number };

export interface ChangeParts {
  readonly program: Program;
  /** Token of the account that changes; undefined for the first account. */
  readonly token: string | undefined;
  readonly model: Model;
  readonly random: Random;
  readonly newPort: () => Promise<number>;
  readonly certificateFor: (host: string) => CertificatePair & { readonly fingerprint: string };
}

/** Makes a change over the API and in the model; returns undefined if the model has nothing to change this way. */
export type Change = (parts: ChangeParts) => Promise<readonly Touched[] | undefined>;

export const sources = ['127.0.0.1', '127.0.0.2', '127.0.0.3'] as const;
const matches = ['/a', '/a/b', '/c'] as const;
const siteLimit = 8;
const tcpLimit = 3;
let names = 0;

const createSite: Change = async ({ program, token, model, random }) => {
  if (model.sites.length >= siteLimit) return undefined;
  const host = newHost();
  const { id } = await program.must('POST', '/edges/https', { hostports: [`${host}:443`] }, token);
  const site: Site = { id, host, routes: [], certificate: undefined };
  site.routes.push(await postRoute(program, token, site, '/', model, random));
  model.sites.push(site);
  return [{ site, path: '/' }];
};

const deleteSite: Change = async ({ program, token, model, random }) => {
  if (model.sites.length < 3) return undefined;
  const site = random.pick(model.sites);
  await program.must('DELETE', `/edges/https/${site.id}`, undefined, token);
  model.sites.splice(model.sites.indexOf(site), 1);
  return [{ goneHost: site.host, certificate: site.certificate?.fingerprint }];
};

const renameSite: Change = async ({ program, token, model, random }) => {
  const site = random.pick(model.sites);
  if (site.certificate !== undefined) return undefined;
  const [old, host] = [site.host, newHost()];
  await program.must('PATCH', `/edges/https/${site.id}`, { hostports: [`${host}:443`] }, token);
  site.host = host;
  return [
    { site, path: '/' },
    { goneHost: old, certificate: undefined },
  ];
};

const addRoute: Change = async ({ program, token, model, random }) => {
  const site = random.pick(model.sites);
  const free = ['/', ...matches].filter((match) => site.routes.every((route) => route.match !== match));
  if (free.length === 0) return undefined;
  const match = random.pick(free);
  site.routes.push(await postRoute(program, token, site, match, model, random));
  return [{ site, path: match }];
};

const deleteRoute: Change = async ({ program, token, model, random }) => {
  const site = random.pick(model.sites);
  if (site.routes.length === 0) return undefined;
  const route = random.pick(site.routes);
  await program.must('DELETE', routePath(site, route), undefined, token);
  site.routes.splice(site.routes.indexOf(route), 1);
  return [{ site, path: route.match }];
};

const moveRoute: Change = async (parts) => {
  const { site, route } = pickRoute(parts);
  if (route === undefined) return undefined;
  const free = matches.filter((match) => site.routes.every((other) => other.match !== match));
  if (free.length === 0) return undefined;
  const [old, match] = [route.match, parts.random.pick(free)];
  await parts.program.must('PATCH', routePath(site, route), { match }, parts.token);
  route.match = match;
  return [
    { site, path: match },
    { site, path: old },
  ];
};

/** Sets, switches off or deletes a module of a random route. */
function changeModule(
  name: string,
  choose: (parts: ChangeParts, route: Route) => { readonly settings: object; readonly on: () => void },
  off: (route: Route) => void,
): Change {
  return async (parts) => {
    const { site, route } = pickRoute(parts);
    if (route === undefined) return undefined;
    const { program, token, random } = parts;
    const path = `${routePath(site, route)}/${name}`;
    const { settings, on } = choose(parts, route);
    const way = random.pick(['set', 'set', 'disable', 'delete']);
    if (way === 'delete') await program.must('DELETE', path, undefined, token);
    else await program.must('PUT', path, { enabled: way === 'set', ...settings }, token);
    if (way === 'set') on();
    else off(route);
    return [{ site, path: route.match }];
  };
}

const changeBackendModule = changeModule(
  'backend',
  ({ model, random }, route) => {
    const backend = random.pick(model.backends);
    return { settings: { backend_id: backend.id }, on: () => (route.backend = backend) };
  },
  (route) => (route.backend = undefined),
);
const changeIpModule = changeModule(
  'ip_restriction',
  ({ model, random }, route) => {
    const policy = random.pick(model.policies);
    return { settings: { ip_policy_ids: [policy.id] }, on: () => (route.policy = policy) };
  },
  (route) => (route.policy = undefined),
);
const changeRequestHeaders = changeModule(
  'request_headers',
  (_parts, route) => {
    const added = `value ${(names += 1)}`;
    return { settings: { add: { 'x-added': added } }, on: () => (route.added = added) };
  },
  (route) => (route.added = undefined),
);
const changeResponseHeaders = changeModule(
  'response_headers',
  (_parts, route) => {
    const value = `value ${(names += 1)}`;
    return { settings: { add: { 'x-response': value } }, on: () => (route.responseHeader = value) };
  },
  (route) => (route.responseHeader = undefined),
);

const toggleRule: Change = async ({ program, token, model, random }) => {
  const policy = random.pick(model.policies);
  const address = random.pick(sources);
  const known = policy.rules.get(address);
  if (known !== undefined) {
    await program.must('DELETE', `/ip_policy_rules/${known}`, undefined, token);
    policy.rules.delete(address);
  } else {
    const body = { ip_policy_id: policy.id, cidr: `${address}/32`, action: 'allow' };
    policy.rules.set(address, (await program.must('POST', '/ip_policy_rules', body, token)).id);
  }
  return usersOf(model, policy);
};

const changeRestriction: Change = async ({ program, token, model, random }) => {
  const { restriction } = model;
  if (restriction === undefined) {
    const [policy, enforced] = [random.pick(model.policies), random.pick([true, false])];
    const body = { type: 'endpoints', enforced, ip_policy_ids: [policy.id] };
    const { id } = await program.must('POST', '/ip_restrictions', body, token);
    model.restriction = { id, policy, enforced };
  } else if (random.below(3) === 0) {
    await program.must('DELETE', `/ip_restrictions/${restriction.id}`, undefined, token);
    model.restriction = undefined;
  } else {
    const enforced = !restriction.enforced;
    await program.must('PATCH', `/ip_restrictions/${restriction.id}`, { enforced }, token);
    restriction.enforced = enforced;
  }
  return [anySite(model, random), ...model.tcpSites.map((tcp) => ({ tcp }))];
};

const moveBackend: Change = async ({ program, token, model, random }) => {
  const backend = random.pick(model.backends);
  const upstream = random.pick(model.upstreams.filter((each) => each !== backend.upstream));
  await program.must('PATCH', `/backends/static/${backend.id}`, { address: `127.0.0.1:${upstream.port}` }, token);
  backend.upstream = upstream;
  const touched: Touched[] = model.tcpSites.filter((tcp) => tcp.backend === backend).map((tcp) => ({ tcp }));
  for (const site of model.sites) {
    const route = site.routes.find((each) => each.backend === backend);
    if (route !== undefined) return [{ site, path: route.match }, ...touched];
  }
  return touched;
};

const changeCertificate: Change = async ({ program, token, model, random, certificateFor }) => {
  const site = random.pick(model.sites);
  if (site.certificate !== undefined) {
    await program.must('DELETE', `/tls_certificates/${site.certificate.id}`, undefined, token);
    site.certificate = undefined;
  } else {
    const { fingerprint, ...pair } = certificateFor(site.host);
    const { id } = await program.must('POST', '/tls_certificates', pair, token);
    site.certificate = { id, fingerprint };
  }
  return [{ site, path: '/' }];
};

const createTcp: Change = async ({ program, token, model, random, newPort }) => {
  if (model.tcpSites.length >= tcpLimit) return undefined;
  const [backend, port] = [random.pick(model.backends), await newPort()];
  const body = { hostports: [`localhost:${port}`], backend: { backend_id: backend.id } };
  const { id } = await program.must('POST', '/edges/tcp', body, token);
  const tcp: TcpSite = { id, port, backend, policy: undefined };
  model.tcpSites.push(tcp);
  return [{ tcp }];
};

const changeTcp: Change = async ({ program, token, model, random, newPort }) => {
  if (model.tcpSites.length === 0) return undefined;
  const tcp = random.pick(model.tcpSites);
  const path = `/edges/tcp/${tcp.id}`;
  const way = random.pick(['delete', 'move', 'restrict', 'free', 'backend']);
  if (way === 'delete') {
    await program.must('DELETE', path, undefined, token);
    model.tcpSites.splice(model.tcpSites.indexOf(tcp), 1);
    return [{ gonePort: tcp.port }];
  }
  if (way === 'move') {
    const [old, port] = [tcp.port, await newPort()];
    await program.must('PATCH', path, { hostports: [`localhost:${port}`] }, token);
    tcp.port = port;
    return [{ tcp }, { gonePort: old }];
  }
  if (way === 'restrict') {
    tcp.policy = random.pick(model.policies);
    await program.must('PUT', `${path}/ip_restriction`, { ip_policy_ids: [tcp.policy.id] }, token);
  } else if (way === 'free') {
    tcp.policy = undefined;
    await program.must('DELETE', `${path}/ip_restriction`, undefined, token);
  } else {
    tcp.backend = random.pick(model.backends);
    await program.must('PATCH', path, { backend: { backend_id: tcp.backend.id } }, token);
  }
  return [{ tcp }];
};

export const changes: readonly Change[] = [
  createSite,
  deleteSite,
  renameSite,
  addRoute,
  deleteRoute,
  moveRoute,
  changeBackendModule,
  changeIpModule,
  changeRequestHeaders,
  changeResponseHeaders,
  toggleRule,
  changeRestriction,
  moveBackend,
  changeCertificate,
  createTcp,
  changeTcp,
];

async function postRoute(
  program: Program,
  token: string | undefined,
  site: Site,
  match: string,
  model: Model,
  random: Random,
): Promise<Route> {
  const backend = random.pick(model.backends);
  const body = { match_type: 'path_prefix', match, backend: { backend_id: backend.id } };
  const { id } = await program.must('POST', `/edges/https/${site.id}/routes`, body, token);
  return { id, match, backend, policy: undefined, added: undefined, responseHeader: undefined };
}

function pickRoute({ model, random }: ChangeParts): { readonly site: Site; readonly route: Route | undefined } {
  const site = random.pick(model.sites);
  return { site, route: site.routes.length === 0 ? undefined : random.pick(site.routes) };
}

/** Returns everything in the model that uses the policy. */
function usersOf(model: Model, policy: Policy): readonly Touched[] {
  const touched: Touched[] = model.tcpSites.filter((tcp) => tcp.policy === policy).map((tcp) => ({ tcp }));
  for (const site of model.sites) {
    const route = site.routes.find((each) => each.policy === policy);
    if (route !== undefined) touched.push({ site, path: route.match });
  }
  if (model.restriction?.policy === policy)
    touched.push(...model.sites.slice(0, 1).map((site) => ({ site, path: '/' })));
  return touched;
}

function anySite(model: Model, random: Random): Touched {
  return { site: random.pick(model.sites), path: '/' };
}

function routePath(site: Site, route: Route): string {
  return `/edges/https/${site.id}/routes/${route.id}`;
}

function newHost(): string {
  return `site-${(names += 1)}.changing.test`;
}
