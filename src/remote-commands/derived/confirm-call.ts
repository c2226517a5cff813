import type { AnyInput, GatehouseClient } from '../../../client/src/index.ts';
import type { Host } from '../../command-line/host.ts';
import { oneLine } from '../../lib/terminal-text.ts';
import { canAsk, isConfirmed } from '../ask.ts';
import { CommandFault } from '../exit.ts';
import type { DerivedCommand } from './derive-commands.ts';
import { labelOf } from './label.ts';

interface Confirming {
  readonly client: GatehouseClient;
  readonly command: DerivedCommand;
  readonly input: AnyInput;
  readonly host: Host;
  /** Shows what a dry run answers. */
  readonly show: (result: unknown) => Promise<void>;
}

/** Asks before a call that takes something away, where somebody can answer. True: they were asked, and agreed. */
export async function confirmCall({ client, command, input, host, show }: Confirming): Promise<boolean> {
  const { facts, summary } = command;
  const isDryRun = input.query?.['dry_run'] === 'true';
  if (!command.confirms || isDryRun || !canAsk(host)) return false;
  let question = `${summary} ${Object.values(input.path ?? {}).join(' ')}?`;
  if (facts.query.includes('dry_run')) {
    const { document } = await client.replyTo(facts, { ...input, query: { ...input.query, dry_run: 'true' } });
    await show(document);
    question = 'Apply this?';
  } else if (command.canRead) {
    const reading = { method: 'GET', path: facts.path, query: [], idempotencyKey: false };
    // A fault of it is that of the call: there is nothing, or it may not be seen.
    const { document } = await client.replyTo(reading, input.path === undefined ? {} : { path: input.path });
    const label = labelOf(document);
    if (label !== '') question = `${summary} ${label} (${Object.values(input.path ?? {}).join(' ')})?`;
  }
  if (!(await isConfirmed(host, oneLine(question)))) throw new CommandFault('nothing was changed');
  return true;
}
