import { quote, UserError } from '../../errors/user-error.ts';
import { findFreePort, findUsedShare, ownersOfPort } from '../port-holders.ts';
import { reservedPorts } from '../reserved-addrs/service.ts';
import { formerClaim, refuseByAcl } from './choice.ts';
import type { Choice, Place } from './choice.ts';
import * as errors from './errors.ts';
import { tunnelClaims } from './table.ts';
import { readWantedPort } from './wanted.ts';

/** The port of a TCP endpoint. Throws if the agent may not have the one it asks for. */
export async function choosePort(choice: Choice): Promise<Place> {
  const { claimant, services, settings, writer } = choice;
  const { tcpPorts, agentDomain } = settings;
  const asked = await askedPort(choice);
  const port = asked ?? (await findFreePort({ services, settings }, writer));
  if (port === undefined) throw new UserError(errors.noFreeAgentPort, { ports: `${tcpPorts.first}-${tcpPorts.last}` });
  if (!claimant.credential.acl.allowsAddress(agentDomain, port))
    throw refuseByAcl(claimant, asked === undefined ? 'a port that nobody chose' : `${agentDomain}:${port}`);
  const isOwn = asked !== undefined && (await checkPort(choice, asked));
  if (!isOwn) await checkShare(choice);
  const url = `tcp://${agentDomain}:${port}`;
  return { kind: 'tcp', key: `port ${port}`, url, hostname: null, port, labels: null };
}

async function askedPort(choice: Choice): Promise<number | undefined> {
  const { claimant, request, services, settings, writer } = choice;
  const { host, port } = readWantedPort(request);
  const { agentDomain, tcpPorts } = settings;
  if (port === undefined) return (await formerClaim(choice))?.port ?? undefined;
  const { accountId } = claimant.credential;
  const isOwn = (await services.get(reservedPorts).find(writer, accountId, port)) !== undefined;
  if (isOwn) return port;
  const asked = quote(`${host ?? ''}:${port}`);
  if (host !== undefined && host !== agentDomain)
    throw new UserError(errors.invalidAgentName, { asked, reason: `TCP endpoints are at ${agentDomain}` });
  if (port < tcpPorts.first || port > tcpPorts.last) {
    const reason = `TCP endpoints have the ports ${tcpPorts.first}-${tcpPorts.last} (GATEHOUSE_TCP_PORTS)`;
    throw new UserError(errors.invalidAgentName, { asked, reason });
  }
  return port;
}

/** True if the account has the port already. Throws if another one does. */
async function checkPort({ claimant, services, writer }: Choice, port: number): Promise<boolean> {
  const owners = await ownersOfPort(services, writer, port);
  for (const { id, accountId, reserves } of owners) {
    const isOwn = accountId === claimant.credential.accountId && (reserves || tunnelClaims.mayHave(id));
    if (!isOwn) throw new UserError(errors.portNotAvailable, { port });
  }
  return owners.length > 0;
}

async function checkShare({ claimant, services, settings, writer }: Choice): Promise<void> {
  const { first, last } = settings.tcpPorts;
  const share = await findUsedShare({ services, settings }, writer, claimant.credential.accountId);
  if (share !== undefined) throw new UserError(errors.portShareUsed, { share, ports: `${first}-${last}` });
}
