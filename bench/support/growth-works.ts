import { gatehouseVariant } from '../change.ts';
import { readRoutes } from './edges.ts';
import { keyMetadata } from './fill.ts';
import { Gatehouse } from './gatehouse.ts';
import type { LoadOptions } from './load.ts';
import { measureLoad } from './measure.ts';
import type { Variant } from './rounds.ts';

/** A running installation of one size. */
export interface Site {
  readonly gatehouse: Gatehouse;
  readonly readyMegabytes: number;
  readonly keyId: string;
  readonly policyId: string;
  readonly change: Variant;
}

export async function openSite(databaseFile: string, started: AsyncDisposableStack): Promise<Site> {
  const routes = readRoutes(databaseFile, 10);
  const gatehouse = started.use(await Gatehouse.start({ databaseFile }));
  const readyMegabytes = gatehouse.process.residentMegabytes;
  const firstOf = async (path: string, list: string) => {
    // Lists of the API are arrays of objects with an id.
    const [first] = (await gatehouse.call('GET', `${path}?limit=1`))[list] as readonly { readonly id: string }[];
    return first?.id ?? '';
  };
  return {
    gatehouse,
    readyMegabytes,
    keyId: await firstOf('/api_keys', 'keys'),
    policyId: await firstOf('/ip_policies', 'ip_policies'),
    change: gatehouseVariant('', gatehouse, routes),
  };
}

interface Work {
  readonly key: string;
  measure(site: Site): Promise<number>;
}

const keyBody = JSON.stringify({ description: 'a key', metadata: keyMetadata });
let hosts = 0;

/** Measurements of every site; `key` names the figure. */
export const works: readonly Work[] = [
  { key: 'get', measure: (site) => apiCpuUs(site, { paths: [`/api_keys/${site.keyId}`] }) },
  { key: 'list', measure: (site) => apiCpuUs(site, { paths: ['/api_keys'] }) },
  { key: 'https', measure: ({ gatehouse }) => cpuUs(gatehouse, { port: gatehouse.httpsPort, tls: true }) },
  { key: 'change', measure: async ({ change }) => (await change.measure())['ms'] ?? Number.NaN },
  { key: 'rule', measure: addRule },
  { key: 'post', measure: (site) => apiCpuUs(site, { method: 'POST', paths: ['/api_keys'], body: keyBody }) },
];

function apiCpuUs({ gatehouse }: Site, options: Pick<LoadOptions, 'method' | 'paths' | 'body'>): Promise<number> {
  const headers = {
    ...gatehouse.headers,
    ...(options.body === undefined ? {} : { 'Content-Type': 'application/json' }),
  };
  return cpuUs(gatehouse, { port: gatehouse.apiPort, headers, ...options });
}

async function cpuUs(gatehouse: Gatehouse, options: Omit<LoadOptions, 'seconds'>): Promise<number> {
  return (await measureLoad(gatehouse.process, { ...options, seconds: 1 }))['cpuUs'] ?? Number.NaN;
}

async function addRule({ gatehouse, policyId }: Site): Promise<number> {
  hosts += 1;
  const cidr = `192.0.${2 + (hosts >> 8)}.${hosts & 255}/32`;
  const startMs = performance.now();
  await gatehouse.call('POST', '/ip_policy_rules', { ip_policy_id: policyId, cidr, action: 'allow' });
  return performance.now() - startMs;
}
