import type { EndpointProto } from '../../agents/wire/options.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { findNameUse } from '../hostname-holders.ts';
import { reservedNames } from '../reserved-domains/service.ts';
import type { ResourceSettings } from '../resource.ts';
import { secureUrl } from '../visitor-urls.ts';
import { claimOf, formerClaim, refuseByAcl } from './choice.ts';
import type { Choice, Place } from './choice.ts';
import * as errors from './errors.ts';
import { tunnelClaims, tunnels, tunnelSessions } from './table.ts';
import { readWantedName } from './wanted.ts';
import { madeUpName } from './words.ts';

/** Names that are tried before giving up. */
const nameAttempts = 50;

/** The name of an HTTP or TLS endpoint. Throws if the agent may not have the one it asks for. */
export async function chooseName(choice: Choice): Promise<Place> {
  const { request, settings } = choice;
  const asked = readWantedName(request, settings) ?? (await formerClaim(choice))?.hostname ?? undefined;
  const hostname = asked ?? (await nameOfTwin(choice)) ?? (await makeName(choice));
  if (asked !== undefined) await checkName(choice, asked);
  const kind = request.proto === 'tls' ? 'tls' : 'http';
  const url = urlOfName(request.proto, hostname, settings);
  return {
    kind,
    key: `name ${hostname}`,
    url,
    plain: isPlain(request.proto, settings),
    hostname,
    port: null,
    labels: null,
  };
}

/** True if visitors may come without TLS: the agent asks for http, and there is a listener for it. */
function isPlain(proto: EndpointProto, { httpUrlPort }: ResourceSettings): boolean {
  return proto === 'http' && httpUrlPort !== undefined;
}

/** The URL of an endpoint that has a name. */
export function urlOfName(proto: EndpointProto, hostname: string, settings: ResourceSettings): string {
  const plainPort = proto === 'http' ? settings.httpUrlPort?.(hostname) : undefined;
  if (plainPort !== undefined) return `http://${hostname}${plainPort === 80 ? '' : `:${plainPort}`}`;
  return secureUrl(proto === 'tls' ? 'tls' : 'https', hostname, settings);
}

async function checkName(choice: Choice, name: string): Promise<void> {
  const { claimant, services, settings, writer } = choice;
  const { accountId, acl } = claimant.credential;
  const { agentDomain } = settings;
  if (!acl.allowsName(name)) throw refuseByAcl(claimant, name);
  const isFree = name.endsWith(`.${agentDomain}`) && !name.startsWith('*.');
  if (!(await isAvailable(choice, name))) throw new UserError(errors.nameNotAvailable, { name: quote(name) });
  if (isFree) {
    await settings.ownNames.check(name);
    return;
  }
  const reserved = await services.get(reservedNames).find(writer, accountId, name);
  if (reserved !== undefined) return;
  if (name.startsWith('*.')) throw new UserError(errors.wildcardNotReserved, { name: quote(name) });
  throw new UserError(errors.nameNotReserved, { name: quote(name), domain: quote(agentDomain) });
}

/** Names of other accounts and of edges are not; a claim of the account itself is looked at when it is taken. */
async function isAvailable({ claimant, services, writer }: Choice, name: string): Promise<boolean> {
  const { accountId } = claimant.credential;
  const { isElsewhere, users } = await findNameUse(services, writer, accountId, name);
  return !isElsewhere && users.every((id) => tunnelClaims.mayHave(id));
}

/**
 * The old command line, of version 2, opens a target as https and then as http, and leaves the choice of the name to the
 * server both times. It does not say where it takes the traffic, as newer agents do. Where several targets are opened at
 * once, nobody knows which two belong together.
 */
async function nameOfTwin({ claimant: { sessionId }, request, writer }: Choice): Promise<string | undefined> {
  if (request.proto !== 'http' || request.upstream.url !== '') return undefined;
  const session = await tunnelSessions.load(writer, sessionId);
  if (session?.agent_version.startsWith('2.') !== true) return undefined;
  const rows = await writer.all('SELECT document FROM tunnels WHERE session_id = $1', [sessionId]);
  const open = rows.map((row) => tunnels.parse(row));
  const paired = new Set(open.filter(({ proto }) => proto === 'http').map(({ claim_id: claim }) => claim));
  const [twin, another] = open.filter(({ proto, claim_id: claim }) => proto === 'https' && !paired.has(claim));
  if (twin === undefined || another !== undefined) return undefined;
  return (await tunnelClaims.load(writer, twin.claim_id))?.hostname ?? undefined;
}

async function makeName(choice: Choice): Promise<string> {
  const { claimant, settings, writer } = choice;
  const { agentDomain } = settings;
  for (let attempt = 0; attempt < nameAttempts; attempt++) {
    const name = `${madeUpName()}.${agentDomain}`;
    if (!claimant.credential.acl.allowsName(name)) throw refuseByAcl(claimant, `a made-up name below ${agentDomain}`);
    const isNew = (await claimOf(writer, `name ${name}`)) === undefined;
    if (isNew && settings.ownNames.find(name) === undefined && (await isAvailable(choice, name))) return name;
  }
  throw new UserError(errors.nameNotAvailable, { name: quote(`*.${agentDomain}`) });
}
