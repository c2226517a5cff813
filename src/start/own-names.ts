import { isIP } from 'node:net';

import type { Config } from '../config/config.ts';
import { withoutLocalhost } from '../config/values.ts';
import { OwnNames } from '../resources/own-names.ts';
import type { OwnName } from '../resources/own-names.ts';
import type { Queries } from '../store/database.ts';

/** Most names that one message lists. */
const namedAtOnce = 50;

/** The names that the settings give to the installation. */
export function ownNamesOf(config: Config): OwnNames {
  const { agentDomain, publicUrl, ownNames } = config;
  const agents = 'GATEHOUSE_AGENT_DOMAIN';
  const hosts: readonly (readonly [setting: string, host: string | undefined])[] = [
    ['GATEHOUSE_PUBLIC_URL', publicUrl === undefined ? undefined : new URL(publicUrl).hostname],
    ['GATEHOUSE_API_LISTEN', config.apiListen.host],
    ['GATEHOUSE_AGENT_LISTEN', config.agentListen?.host],
    ['GATEHOUSE_HTTPS_LISTEN', config.httpsListen?.host],
    ['GATEHOUSE_HTTP_LISTEN', config.httpListen?.host],
    ['GATEHOUSE_METRICS_LISTEN', config.metricsListen?.host],
    ['GATEHOUSE_LINK_LISTEN', config.linkListen?.host],
    ['GATEHOUSE_LINK_ADDRESS', config.linkAddress?.host],
  ];
  return new OwnNames([
    ...(ownNames.includes(withoutLocalhost) ? [] : [{ name: 'localhost', setting: 'GATEHOUSE_OWN_NAMES' }]),
    { name: agentDomain, setting: agents },
    { name: `*.${agentDomain}`, setting: agents, isShared: true },
    ...hosts.flatMap(([setting, host = '']): readonly OwnName[] =>
      // An edge has no address for a name, and a URL has IPv6 in brackets.
      host === '' || host.startsWith('[') || isIP(host) !== 0 ? [] : [{ name: host.toLowerCase(), setting }],
    ),
    ...ownNames.filter((name) => name !== withoutLocalhost).map((name) => ({ name, setting: 'GATEHOUSE_OWN_NAMES' })),
  ]);
}

/**
 * Names that accounts have from before and could not have any more, in words for the operator; undefined if there are
 * none. They are served as before, but get no public certificate.
 */
export async function describeHeldNames(
  queries: Pick<Queries, 'all'>,
  ownNames: OwnNames,
): Promise<string | undefined> {
  const { sql, values } = ownNames.candidates;
  const rows = [
    ...(await queries.all(`SELECT edge_id, hostname FROM https_edge_hostnames WHERE ${sql}`, values)),
    ...(await queries.all(`SELECT edge_id, hostname FROM tls_edge_hostnames WHERE ${sql}`, values)),
    ...(await queries.all(`SELECT id, hostname FROM reserved_domains WHERE ${sql}`, values)),
  ];
  const held: string[] = [];
  for (const [id, hostname] of rows)
    if ((await ownNames.refusalOf(String(hostname))) !== undefined) held.push(`${String(hostname)} (${String(id)})`);
  if (held.length === 0) return undefined;
  const more = held.length > namedAtOnce ? ` and ${held.length - namedAtOnce} more` : '';
  return (
    `host names of the installation, or wildcards over a public suffix, belong to accounts: ${held.slice(0, namedAtOnce).join(', ')}${more}. ` +
    'They are served as before, and get no public certificate any more. Take them from these edges and reserved domains, or change GATEHOUSE_PUBLIC_URL, ' +
    'GATEHOUSE_AGENT_DOMAIN or GATEHOUSE_OWN_NAMES'
  );
}
