import type { Command } from 'commander';

import { ApiError, ConnectionError, GatehouseClient } from '../../client/src/index.ts';
import type { Host } from '../command-line/host.ts';
import { findProfile, ProfileFault } from '../config/profiles.ts';
import { remoteVariables } from '../config/remote-variables.ts';
import { PrivateFileFault } from '../lib/private-file.ts';
import { CommandFault, exitCodes } from './exit.ts';

export interface ServerFlags {
  readonly url?: string;
  readonly token?: string;
  readonly profile?: string;
}

export interface Server {
  readonly url: string;
  readonly token: string;
  readonly client: GatehouseClient;
}

export const defaultUrl = 'http://127.0.0.1:4040';

export function addServerOptions(command: Command): Command {
  return command
    .option('--url <url>', `URL of the API (${remoteVariables.url}, default: that of the profile, else ${defaultUrl})`)
    .option('--token <token>', `token of an API key; better ${remoteVariables.token}, which others cannot see`)
    .option('--profile <name>', `server and token of this "gatehouse login" (${remoteVariables.profile})`);
}

/** The server that flags, the environment or a profile name, in this order. */
export async function findServer(
  flags: ServerFlags,
  { env, stderr }: Pick<Host, 'env' | 'stderr'>,
  { needsToken = true } = {},
): Promise<Server> {
  const given = {
    url: flags.url ?? (env[remoteVariables.url] || undefined),
    token: flags.token ?? (env[remoteVariables.token] || undefined),
  };
  if (flags.profile !== undefined && (given.url !== undefined || given.token !== undefined))
    throw new CommandFault(
      `--profile ${flags.profile} names a server, and --url, --token, ${remoteVariables.url} or ${remoteVariables.token} ` +
        'another one. Leave out one of the two, so that it is clear which server is meant',
    );
  const isComplete = given.url !== undefined && given.token !== undefined;
  const profile = isComplete
    ? undefined
    : await findProfile(flags.profile ?? (env[remoteVariables.profile] || undefined), env);
  const url = checkUrl(given.url ?? profile?.url ?? defaultUrl);
  // The token of a profile goes to no other server than its own.
  const token = given.token ?? (profile?.url === url ? profile.token : undefined) ?? (needsToken ? undefined : '');
  if (token === undefined)
    throw new CommandFault(
      `no token for ${url}: run "gatehouse login", or set ${remoteVariables.token} to that of an API key ` +
        '(POST /api_keys shows it once)',
    );
  return {
    url,
    token,
    client: new GatehouseClient({ url, token: token || undefined, retries: { onPause: sayOnce(stderr) } }),
  };
}

/** Says why nothing comes for some seconds. */
function sayOnce(stderr: Host['stderr']): (error: Error) => void {
  let isSaid = false;
  return ({ message }) => {
    if (!isSaid) stderr.write(`${message}; trying again\n`);
    isSaid = true;
  };
}

/** The URL without slashes at its end, and without a page of the dashboard or the reference. Throws a `CommandFault` for one that is none of an API. */
export function checkUrl(url: string): string {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url))
    throw new CommandFault(`the URL ${JSON.stringify(url)} is not one of an API, such as ${defaultUrl}`);
  // As it stands in the browser.
  return url.replace(/\/(?:dashboard|docs)(?:[/?#].*)?$/, '').replace(/\/+$/, '');
}

/** The fault of a call in words, with the operation that the server's log knows it by. */
export function toFault(error: unknown): CommandFault {
  if (error instanceof CommandFault) return error;
  if (error instanceof PrivateFileFault || error instanceof ProfileFault) return new CommandFault(error.message);
  if (error instanceof ApiError) {
    const operation =
      error.operationId === '' ? '' : ` (${[error.code, error.operationId].filter(Boolean).join(', ')})`;
    const exitCode = error.status >= 500 ? exitCodes.failed : exitCodes.refused;
    return new CommandFault(`${error.message}${operation}`, exitCode);
  }
  if (error instanceof ConnectionError) return new CommandFault(error.message, exitCodes.unreachable);
  throw error;
}
