import { ConnectionError, GatehouseClient } from '../../../client/src/index.ts';
import type { Host } from '../../command-line/host.ts';
import { remoteVariables } from '../../config/remote-variables.ts';
import { CommandFault, exitCodes } from '../exit.ts';
import { writeLines } from '../output.ts';
import { checkUrl, findServer } from '../server.ts';
import { collections, leftOut, routes } from './collections.ts';
import { Journal } from './journal.ts';
import { readCollection, readIds, routesIn } from './read-source.ts';
import { Report } from './report.ts';
import { Target } from './write-target.ts';

export interface ImportFlags {
  readonly from?: string;
  readonly token?: string;
  readonly vendor?: string;
  readonly to?: string;
  readonly state: string;
  readonly allowLockout?: boolean;
}

/** A server may ask to wait for its next minute, and many times in a row. */
const patience = { attempts: 30, longestPauseMs: 120_000 };

/** Reads everything of one server, then creates on the other what is not there yet. */
export async function runImport(flags: ImportFlags, host: Host): Promise<void> {
  const { from, to } = await findServers(flags, host);
  const journal = await Journal.open(flags.state, from.url, to.url);
  try {
    const report = await copyAll(from.client, to.client, journal, flags.allowLockout === true);
    await journal.remove();
    writeLines(host, report.lines());
    if (!report.isComplete) host.exitCode = exitCodes.incomplete;
  } catch (error) {
    if (error instanceof ConnectionError)
      throw new CommandFault(`${error.message}\nRun the same command again to go on.`, exitCodes.unreachable);
    throw error;
  }
}

async function copyAll(from: GatehouseClient, to: GatehouseClient, journal: Journal, allowLockout: boolean) {
  const report = new Report();
  const read = new Map<string, Awaited<ReturnType<typeof readCollection>>>();
  for (const { name } of [...collections, ...leftOut]) read.set(name, await readCollection(from, name, journal));
  const openApi = await to.call('OpenApi');
  const target = new Target({ client: to, openApi, journal, report, allowLockout });
  for (const collection of collections) {
    const documents = read.get(collection.name) ?? [];
    if (documents.length === 0) continue;
    const present = await readIds(to, collection.name);
    await target.create(collection, documents, present);
    // Routes of an edge that was not taken are not taken either: the edge is in the report.
    const below = documents.filter(({ id }) => target.has(id)).flatMap(routesIn);
    if (below.length > 0) await target.create(routes, below.toReversed(), present);
  }
  for (const { name, noun, why } of leftOut) {
    const count = read.get(name)?.length ?? 0;
    if (count > 0) report.note(`${count} ${noun}: ${why}`);
  }
  return report;
}

async function findServers(flags: ImportFlags, host: Host) {
  const token = flags.token ?? host.env[remoteVariables.fromToken] ?? '';
  if (token === '')
    throw new CommandFault(`no token of the server to import from: give --token, or set ${remoteVariables.fromToken}`);
  const { from = '' } = flags;
  if (!/^https?:\/\//.test(from) || !URL.canParse(from))
    throw new CommandFault(`--from ${JSON.stringify(from)} is not the URL of an API, such as https://api.example.com`);
  const url = checkUrl(from);
  const headers = flags.vendor === undefined ? {} : { [`${flags.vendor}-version`]: '2' };
  const to = await findServer(flags.to === undefined ? {} : { url: flags.to }, host);
  if (to.url === url)
    throw new CommandFault('both are the same server: --from names one, --to or the profile the other');
  return {
    from: { url, client: new GatehouseClient({ url, token, headers, retries: patience }) },
    to,
  };
}
