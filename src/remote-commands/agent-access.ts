import { hostname } from 'node:os';

import { ApiError, ConnectionError } from '../../client/src/index.ts';
import type { GatehouseClient } from '../../client/src/index.ts';
import type { Host } from '../command-line/host.ts';
import type { AgentAccess } from '../config/profiles.ts';

const refused = 403;
const notFound = 404;
const longestDescription = 255;

/** All that agents need to connect, with a credential of their own; that of an earlier login serves again. */
export async function prepareAgent(
  client: GatehouseClient,
  before: AgentAccess | undefined,
  stderr: Host['stderr'],
): Promise<AgentAccess | undefined> {
  // An older server does not tell.
  const addresses = await client.call('PublicAddressesGet').catch(unlessStatus(notFound));
  if (addresses === undefined || addresses.agent_server === null) return undefined;
  const { agent_server: server, agent_fingerprint: fingerprint } = addresses;
  const credential = (await findAgain(client, before)) ?? (await createCredential(client, stderr));
  return credential && { server, ...(fingerprint === null ? {} : { fingerprint }), ...credential };
}

/** Deletes the credential that the login has made. */
export async function forgetAgent(
  client: GatehouseClient,
  { credential_id: id }: AgentAccess,
  stderr: Host['stderr'],
): Promise<void> {
  try {
    await client.call('CredentialsDelete', { path: { id } }).catch(unlessStatus(notFound));
  } catch (error) {
    if (!(error instanceof ApiError) && !(error instanceof ConnectionError)) throw error;
    stderr.write(`The credential ${id} of its agents stays, because it could not be deleted: ${error.message}\n`);
  }
}

type Credential = Pick<AgentAccess, 'authtoken' | 'credential_id'>;

/** The credential of an earlier login, if it is there still. */
async function findAgain(client: GatehouseClient, before: AgentAccess | undefined): Promise<Credential | undefined> {
  if (before === undefined) return undefined;
  const { authtoken, credential_id } = before;
  const found = await client.call('CredentialsGet', { path: { id: credential_id } }).catch(unlessStatus(notFound));
  return found && { authtoken, credential_id };
}

/** A viewer, or a key that only reads, signs in without agents. */
async function createCredential(client: GatehouseClient, stderr: Host['stderr']): Promise<Credential | undefined> {
  const description = Buffer.from(`gatehouse login on ${hostname()}`).subarray(0, longestDescription).toString();
  try {
    const { id, token } = await client.call('CredentialsCreate', { body: { description } });
    return { authtoken: token ?? '', credential_id: id };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== refused) throw error;
    stderr.write(`Agents cannot be connected by this login: ${error.message}\n`);
    return undefined;
  }
}

/** Makes a refusal of one status undefined. */
function unlessStatus(status: number): (error: unknown) => undefined {
  return (error) => {
    if (!(error instanceof ApiError) || error.status !== status) throw error;
    return undefined;
  };
}
