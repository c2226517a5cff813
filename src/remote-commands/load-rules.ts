import { ApiError } from '../../client/src/index.ts';
import type { GatehouseClient } from '../../client/src/index.ts';
import type { Host } from '../command-line/host.ts';
import { isConfirmed } from './ask.ts';
import { CommandFault, exitCodes } from './exit.ts';
import { painter, writeLines } from './output.ts';
import type { Paint } from './output.ts';
import { Progress } from './progress.ts';
import { readText } from './read-text.ts';
import { canonicalCidr, parseRuleFile } from './rule-file.ts';
import type { Action, RuleFile } from './rule-file.ts';
import { findServer } from './server.ts';
import type { ServerFlags } from './server.ts';

interface LoadFlags extends ServerFlags {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly allowEmpty?: boolean;
  readonly allowLockout?: boolean;
}

/** Lines that a preview takes for what is added, removed or wrong; the rest is counted. */
const shownLines = 20;

/** Replaces all rules of a policy by those of a file, after a preview, in one call. */
export async function runLoadRules(policy: string, path: string, flags: LoadFlags, host: Host): Promise<void> {
  const text = await readText(path, host.stdin);
  const file = parseRuleFile(text);
  if (file.faults.length > 0)
    throw new CommandFault(
      [...few(file.faults), `${path} has ${file.faults.length} lines that are no rules. Nothing is changed.`].join(
        '\n',
      ),
    );
  if (file.rules.size === 0 && flags.allowEmpty !== true)
    throw new CommandFault(`${path} has no rules. To take all rules away, which refuses everybody, add --allow-empty`);
  const { client } = await findServer(flags, host);
  const { etag, stored } = await readStored(client, policy, host);
  const changes = compare(file, stored);
  writeLines(host, preview(changes, file, painter(host)));
  if (flags.dryRun === true || (changes.added.length === 0 && changes.removed.length === 0)) return;
  if (flags.yes !== true && !(await isConfirmed(host, 'Load these rules?')))
    throw new CommandFault('nothing was changed');
  const { added, removed, kept } = await replace(client, policy, text, etag, flags);
  writeLines(host, [`Loaded: ${added} added, ${removed} removed, ${kept} kept.`]);
}

interface Stored {
  readonly etag: string | undefined;
  /** Actions by canonical CIDR. */
  readonly stored: ReadonlyMap<string, Action>;
}

async function readStored(client: GatehouseClient, id: string, host: Host): Promise<Stored> {
  // The tag of the first page stands for the whole list.
  const { etag, document } = await client.reply('IpPolicyRulesOfPolicy', { path: { id } });
  const all = (document.totals?.allow ?? 0) + (document.totals?.deny ?? 0);
  const stored = new Map<string, Action>();
  using progress = new Progress(host, 'rules read');
  for await (const { cidr, action } of client.list('IpPolicyRulesOfPolicy', { path: { id } })) {
    stored.set(canonicalCidr(cidr), action);
    progress.show(stored.size, Math.max(all, stored.size));
  }
  return { etag, stored };
}

interface Changes {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly kept: number;
}

function compare({ rules }: RuleFile, stored: ReadonlyMap<string, Action>): Changes {
  const isKept = (cidr: string) => stored.get(cidr) === rules.get(cidr)?.action;
  const added = [...rules.keys()].filter((cidr) => !isKept(cidr));
  const removed = [...stored].filter(([cidr]) => !isKept(cidr)).map(([cidr, action]) => `${action} ${cidr}`);
  return { added, removed, kept: rules.size - added.length };
}

function preview({ added, removed, kept }: Changes, { rules }: RuleFile, paint: Paint): readonly string[] {
  const shown = added
    .map((cidr) => rules.get(cidr))
    .map((rule) => `${rule?.action} ${rule?.cidr} (line ${rule?.line})`);
  return [
    ...few(removed).map((rule) => paint('red', `- ${rule}`)),
    ...few(shown).map((rule) => paint('green', `+ ${rule}`)),
    `${added.length} to add, ${removed.length} to remove, ${kept} kept.`,
  ];
}

function few(lines: readonly string[]): readonly string[] {
  return lines.length > shownLines ? [...lines.slice(0, shownLines), `… and ${lines.length - shownLines} more`] : lines;
}

async function replace(
  client: GatehouseClient,
  id: string,
  body: string,
  etag: string | undefined,
  { allowLockout = false }: LoadFlags,
) {
  try {
    const ifMatch = etag === undefined ? {} : { ifMatch: etag };
    return await client.call('IpPolicyRulesReplace', { path: { id }, body, allowLockout, ...ifMatch });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 412) throw error;
    throw new CommandFault('the rules have changed since the preview was drawn. Run it again.', exitCodes.refused);
  }
}
