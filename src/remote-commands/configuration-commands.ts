import { writeFile } from 'node:fs/promises';

import { ApiError } from '../../client/src/index.ts';
import type { ConfigurationApplied, Reply } from '../../client/src/index.ts';
import type { Host } from '../command-line/host.ts';
import { canAsk, isConfirmed } from './ask.ts';
import { drawDifference, drawPlan } from './draw-plan.ts';
import { CommandFault, exitCodes } from './exit.ts';
import { showPlace } from './files/entry.ts';
import type { FileEntry } from './files/entry.ts';
import { readFiles } from './files/read-files.ts';
import { fileVariables } from './files/variables.ts';
import { toYaml } from './files/write-yaml.ts';
import { painter, writeLines } from './output.ts';
import { findServer } from './server.ts';
import type { Server, ServerFlags } from './server.ts';
import { watchFiles } from './watch-files.ts';

interface PlanFlags extends ServerFlags {
  readonly prune?: boolean;
  readonly exitCode?: boolean;
  readonly variables?: string;
}

interface ApplyFlags extends ServerFlags {
  readonly prune?: boolean;
  readonly yes?: boolean;
  readonly watch?: boolean;
  readonly variables?: string;
  readonly allowLockout?: boolean;
}

interface ExportFlags extends ServerFlags {
  readonly output?: string;
  readonly at?: string;
}

interface DiffFlags extends ServerFlags {
  readonly exitCode?: boolean;
}

interface ReturnFlags extends ServerFlags {
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly allowLockout?: boolean;
}

export async function runExport(flags: ExportFlags, host: Host): Promise<void> {
  const { client, url } = await findServer(flags, host);
  const { entries } = await client.call('ConfigurationGet', { query: flags.at === undefined ? {} : { at: flags.at } });
  const text = toYaml(entries, url);
  if (flags.output === undefined || flags.output === '-') host.stdout.write(text);
  else await writeFile(flags.output, text);
}

export async function runPlan(paths: readonly string[], flags: PlanFlags, host: Host): Promise<void> {
  const { document } = await send(
    await findServer(flags, host),
    await readFiles(paths, fileVariables(host.env, flags.variables)),
    {
      ...flags,
      dryRun: true,
    },
  );
  writeLines(host, drawPlan(document, painter(host)));
  if (flags.exitCode === true && document.steps.length > 0) host.exitCode = exitCodes.found;
}

export async function runDiff(
  from: string | undefined,
  to: string | undefined,
  flags: DiffFlags,
  host: Host,
): Promise<void> {
  const { client } = await findServer(flags, host);
  const query = { ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) };
  const difference = await client.call('ConfigurationDiff', { query });
  writeLines(host, drawDifference(difference, painter(host)));
  if (flags.exitCode === true && difference.steps.length > 0) host.exitCode = exitCodes.found;
}

/** Draws what will be, asks where somebody can answer, and makes exactly that. */
export async function runReturn(at: string, flags: ReturnFlags, host: Host): Promise<void> {
  const { client } = await findServer(flags, host);
  const { allowLockout = false } = flags;
  const ask = async (moment: string, dryRun: boolean, etag?: string) =>
    client.reply('ConfigurationReturn', {
      query: { dry_run: dryRun ? 'true' : 'false' },
      body: { at: moment },
      allowLockout,
      ...(etag === undefined ? {} : { ifMatch: etag }),
    });
  const { document, etag } = await ask(at, true);
  writeLines(host, drawPlan(document, painter(host)));
  if (document.steps.length === 0 || flags.dryRun === true) return;
  if (flags.yes !== true) await confirm(document, host);
  try {
    // The second of a time may not be over yet.
    const { created, changed, deleted, moment } = (await ask(String(document.moment.version), false, etag)).document;
    const counts = `${created} created, ${changed} changed, ${deleted} deleted`;
    writeLines(host, [`Returned to version ${moment.version}: ${counts}.`]);
  } catch (error) {
    throw withPlace(error, []);
  }
}

export async function runApply(paths: readonly string[], flags: ApplyFlags, host: Host): Promise<void> {
  const server = await findServer(flags, host);
  if (flags.watch !== true) return applyOnce(server, paths, flags, host);
  return watchFiles(paths, host, () => applyOnce(server, paths, { ...flags, yes: true }, host));
}

/** Draws what will be, asks where somebody can answer, and makes exactly that. */
async function applyOnce(server: Server, paths: readonly string[], flags: ApplyFlags, host: Host): Promise<void> {
  const entries = await readFiles(paths, fileVariables(host.env, flags.variables));
  const planned = await send(server, entries, { ...flags, dryRun: true });
  writeLines(host, drawPlan(planned.document, painter(host)));
  if (planned.document.steps.length === 0) return;
  if (flags.yes !== true) await confirm(planned.document, host);
  const { etag } = planned;
  const { document } = await send(server, entries, {
    ...flags,
    dryRun: false,
    ...(etag === undefined ? {} : { etag }),
  });
  const { created, changed, deleted } = document;
  writeLines(host, [`Applied: ${created} created, ${changed} changed, ${deleted} deleted.`]);
}

/** A program that calls this has decided already, but not on deletions that it may not know of. */
async function confirm({ deleted }: Pick<ConfigurationApplied, 'deleted'>, host: Host): Promise<void> {
  if (deleted > 0 && !canAsk(host))
    throw new CommandFault(
      `nothing was changed: ${deleted} would be deleted, and nobody can be asked here. Add --yes if that is meant`,
    );
  if (!(await isConfirmed(host, 'Apply this?'))) throw new CommandFault('nothing was changed');
}

interface SendOptions {
  readonly dryRun: boolean;
  readonly prune?: boolean;
  readonly allowLockout?: boolean;
  readonly etag?: string;
}

async function send(
  { client }: Server,
  entries: readonly FileEntry[],
  { dryRun, prune = false, allowLockout = false, etag }: SendOptions,
): Promise<Reply<ConfigurationApplied>> {
  try {
    return await client.reply('ConfigurationApply', {
      query: { dry_run: dryRun ? 'true' : 'false', prune: prune ? 'true' : 'false' },
      // The server checks the form of entries, and names the one that is wrong.
      body: entries.map(({ kind, name, fields }) => ({ kind, name, ...fields })) as never,
      allowLockout,
      ...(etag === undefined ? {} : { ifMatch: etag }),
    });
  } catch (error) {
    throw withPlace(error, entries);
  }
}

/** The server names an entry by kind and name; its author looks for it by file and line. */
function withPlace(error: unknown, entries: readonly FileEntry[]): unknown {
  if (!(error instanceof ApiError)) return error;
  if (error.status === 412)
    return new CommandFault('the configuration has changed since the plan was drawn. Run it again.', exitCodes.refused);
  const lines = error.message.split('\n');
  const placed = lines.map((line) => {
    const [, kind, name] = /^(?:entry \d+, )?(\S+) ("(?:[^"\\]|\\.)*"): /.exec(line) ?? [];
    const entry = entries.find((each) => each.kind === kind && JSON.stringify(each.name) === name);
    return entry === undefined ? line : `${showPlace(entry.place)}: ${line}`;
  });
  if (placed.every((line, at) => line === lines[at])) return error;
  return new CommandFault(`${placed.join('\n')} (${error.code}, ${error.operationId})`, exitCodes.refused);
}
