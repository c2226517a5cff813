import { setTimeout as sleep } from 'node:timers/promises';

import type { Host } from '../command-line/host.ts';
import { CommandFault, exitCodes } from './exit.ts';
import { controlSequence } from '../lib/terminal-text.ts';
import { toFault } from './server.ts';

const usualSeconds = '2';

/** Shows a text at once and whenever it has changed, until the process is told to stop. */
export async function watchResult(
  host: Host,
  seconds: string | undefined,
  read: (signal: AbortSignal) => Promise<string>,
): Promise<void> {
  const everyMs = Number(seconds ?? usualSeconds) * 1000;
  if (!(everyMs >= 100 && everyMs <= 3_600_000))
    throw new CommandFault(`--watch takes seconds from 0.1 to 3600, not ${JSON.stringify(seconds)}`);
  const stopping = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) host.once(name, () => stopping.abort());
  let shown: string | undefined;
  while (!stopping.signal.aborted) {
    const text = await attempt(host, () => read(stopping.signal), stopping.signal);
    if (text !== undefined && text !== shown) {
      // A terminal shows the newest alone; a pipe gets one after the other.
      host.stdout.write(host.stdout.isTTY ? controlSequence('H') + controlSequence('2J') + text : text);
      shown = text;
    }
    await sleep(everyMs, undefined, { signal: stopping.signal }).catch(() => {});
  }
}

/** A line that is down for a while is waited for; what the server refuses ends it. */
async function attempt(host: Host, read: () => Promise<string>, { aborted }: AbortSignal): Promise<string | undefined> {
  try {
    return await read();
  } catch (error) {
    if (aborted || (error instanceof Error && error.name === 'AbortError')) return undefined;
    const fault = toFault(error);
    if (fault.exitCode !== exitCodes.unreachable && fault.exitCode !== exitCodes.failed) throw fault;
    host.stderr.write(`${fault.message}\n`);
    return undefined;
  }
}
