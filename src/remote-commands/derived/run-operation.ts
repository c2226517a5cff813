import type { AnyInput, GatehouseClient } from '../../../client/src/index.ts';
import type { Host } from '../../command-line/host.ts';
import { CommandFault } from '../exit.ts';
import { Progress } from '../progress.ts';
import { readText } from '../read-text.ts';
import { findServer } from '../server.ts';
import type { ServerFlags } from '../server.ts';
import { formOf, formResult } from '../show-result.ts';
import type { OutputFlags } from '../show-result.ts';
import { watchResult } from '../watch-result.ts';
import { confirmCall } from './confirm-call.ts';
import type { DerivedCommand } from './derive-commands.ts';
import { drawRevert } from './draw-revert.ts';
import { enrichRows } from './enrich-rows.ts';
import { parseValue, setField } from './flag-values.ts';
import { optionKey } from './flags.ts';
import type { Flag } from './flags.ts';
import { notesOf } from './page-notes.ts';
import { oneLine } from '../../lib/terminal-text.ts';

interface OperationFlags extends ServerFlags, OutputFlags {
  readonly body?: string;
  readonly limit?: string;
  readonly watch?: string | true;
  readonly showEtag?: boolean;
  readonly ifMatch?: string;
  readonly allowLockout?: boolean;
  readonly idempotencyKey?: string;
  readonly yes?: boolean;
}

/** Largest number of entries that one page may have. */
const pageSize = 100;

/** Calls the operation of a command and shows what it answers. */
export async function runOperation(
  command: DerivedCommand,
  args: readonly string[],
  flags: OperationFlags & Readonly<Record<string, unknown>>,
  host: Host,
): Promise<void> {
  const input = await readInput(command, args, flags, host);
  const { client } = await findServer(flags, host, { needsToken: !command.isPublic });
  if (flags.watch === undefined) {
    const show = async (shown: unknown) => void host.stdout.write(await formAnswer(command, shown, flags, host));
    const isAsked = flags.yes !== true && (await confirmCall({ client, command, input, host, show }));
    const result = await fetchResult(client, command, input, flags, host);
    // A plan that was shown before the question need not be shown again.
    if (result !== undefined && !(isAsked && isDrawn(flags, host))) await show(result);
    else if (host.stderr.isTTY) host.stderr.write('Done.\n');
    return;
  }
  const seconds = flags.watch === true ? undefined : flags.watch;
  await watchResult(host, seconds, async (signal) =>
    formResult(await fetchResult(client, command, { ...input, signal }, flags, host), flags, host),
  );
}

/** Drawings of answers that a table would not show well. */
const drawings: Readonly<Record<string, (answer: unknown) => readonly string[]>> = { 'changes revert': drawRevert };

function formAnswer(command: DerivedCommand, result: unknown, flags: OperationFlags, host: Host): Promise<string> {
  const draw = isDrawn(flags, host) ? drawings[command.words.join(' ')] : undefined;
  return draw === undefined ? formResult(result, flags, host) : Promise.resolve(`${draw(result).join('\n')}\n`);
}

/** True where people read it, not a program. */
function isDrawn(flags: OutputFlags, { stdout }: Host): boolean {
  return flags.query === undefined && formOf(flags, stdout) === 'table';
}

/** The document or the entries; undefined if there is no answer but that it is done. */
async function fetchResult(
  client: GatehouseClient,
  { facts }: DerivedCommand,
  input: AnyInput,
  flags: OperationFlags,
  host: Host,
): Promise<unknown> {
  if (facts.list !== undefined) {
    const { entries, notes } = await collect(client, facts, input, readLimit(flags), host);
    for (const note of notes) host.stderr.write(`warning: ${oneLine(note)}\n`);
    return isDrawn(flags, host) ? enrichRows(client, facts, entries) : entries;
  }
  const { document, etag, warnings } = await client.replyTo(facts, input);
  if (flags.showEtag === true && etag !== undefined) host.stderr.write(`ETag: ${etag}\n`);
  for (const warning of warnings) host.stderr.write(`warning: ${inWords(warning)}\n`);
  return document;
}

/** A warning in words; the id of an IP restriction stands for one. */
function inWords(warning: string): string {
  return /^ipx_\w+$/.test(warning) ? `${warning} would refuse this call if it were enforced` : oneLine(warning);
}

async function collect(
  client: GatehouseClient,
  facts: DerivedCommand['facts'],
  input: AnyInput,
  limit: number,
  host: Host,
): Promise<{ readonly entries: readonly unknown[]; readonly notes: readonly string[] }> {
  using progress = new Progress(host, 'entries');
  const entries: unknown[] = [];
  const isPaged = facts.query.includes('limit');
  const query = { ...input.query, ...(isPaged ? { limit: Math.min(limit, pageSize) } : {}) };
  let notes: readonly string[] = [];
  for await (const page of client.pagesOf(facts, { ...input, query })) {
    // The operation says where its entries are.
    entries.push(...(page[facts.list ?? ''] as readonly unknown[]).slice(0, limit - entries.length));
    notes = notesOf(facts, page);
    progress.show(entries.length);
    if (entries.length >= limit) break;
  }
  return { entries, notes };
}

function readLimit({ limit }: OperationFlags): number {
  if (limit === undefined) return Number.POSITIVE_INFINITY;
  if (!/^[1-9]\d{0,8}$/.test(limit))
    throw new CommandFault(`--limit takes a number from 1, not ${JSON.stringify(limit)}`);
  return Number(limit);
}

async function readInput(
  command: DerivedCommand,
  args: readonly string[],
  flags: OperationFlags & Readonly<Record<string, unknown>>,
  host: Host,
): Promise<AnyInput> {
  const path = Object.fromEntries(command.positional.map(({ name }, at) => [name, args[at] ?? '']));
  const empty = Object.keys(path).find((name) => path[name] === '');
  if (empty !== undefined) throw new CommandFault(`${empty} is empty: name the one that is meant`);
  const query = Object.fromEntries(
    command.query.flatMap((flag) => valuesOf(flag, flags).map((value) => [flag.path[0], String(value)])),
  ) as Record<string, string>;
  const body = command.takesBody ? await readBody(command, flags, host) : undefined;
  const { ifMatch, allowLockout, idempotencyKey } = flags;
  return {
    path,
    query,
    ...(body === undefined ? {} : { body }),
    ...(ifMatch === undefined ? {} : { ifMatch }),
    ...(allowLockout === undefined ? {} : { allowLockout }),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  };
}

function valuesOf(flag: Flag, flags: Readonly<Record<string, unknown>>): readonly unknown[] {
  // Commander keeps what the parser of the flag has gathered, or true for one that stands alone.
  const given = (flags[optionKey(flag)] ?? []) as readonly string[] | true;
  return (given === true ? ['true'] : given).map((text) => parseValue(flag, text));
}

async function readBody(
  { fields, takesText }: DerivedCommand,
  flags: OperationFlags & Readonly<Record<string, unknown>>,
  { stdin }: Host,
): Promise<unknown> {
  const whole = flags.body === undefined ? {} : await readWhole(flags.body, { fields, takesText }, stdin);
  if (fields.length === 0 || typeof whole !== 'object' || whole === null || Array.isArray(whole)) return whole;
  const body: Record<string, unknown> = { ...whole };
  for (const flag of fields) {
    const values = valuesOf(flag, flags);
    if (values.length > 0) setField(body, flag, values);
  }
  return body;
}

async function readWhole(
  path: string,
  { fields, takesText }: Pick<DerivedCommand, 'fields' | 'takesText'>,
  stdin: Host['stdin'],
): Promise<unknown> {
  const own = fields.find(({ name }) => name === 'field.body');
  const text = await readText(path, stdin).catch((error: unknown) => {
    if (own === undefined || !(error instanceof CommandFault)) throw error;
    throw new CommandFault(`${error.message}. --body names a file with all fields; the field "body" is --${own.name}`);
  });
  if (takesText && !/^\s*\[/.test(text)) return text;
  const { parse } = await import('yaml');
  try {
    return parse(text) as unknown;
  } catch (error) {
    throw new CommandFault(
      `${path} is neither JSON nor YAML: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
