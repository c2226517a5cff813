import { spawn } from 'node:child_process';
import type { ChildProcess, SpawnOptionsWithStdioTuple, StdioNull, StdioPipe } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

/** Processes that run, each with a group of all that it starts. */
const running = new Set<ChildProcess>();
let isEnding = false;
/** Time for processes to end by themselves. */
const limitMs = 3_000;
const lookMs = 50;

/** Starts a program in a process group of its own. */
export function spawnGroup<Stdin extends StdioNull>(
  program: string,
  args: readonly string[],
  options: SpawnOptionsWithStdioTuple<Stdin, StdioPipe, StdioPipe>,
) {
  if (isEnding) throw new Error('the run was stopped');
  const child = spawn(program, args, { ...options, detached: true });
  running.add(child);
  child.once('close', () => running.delete(child));
  return child;
}

/** Sends the signal to all processes of the group. Returns false if there is none. */
export function killGroup({ pid }: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  try {
    return pid !== undefined && process.kill(-pid, signal);
  } catch {
    return false;
  }
}

/** Ends all groups, and lets no new one begin. */
export async function endGroups(): Promise<void> {
  isEnding = true;
  const groups = [...running];
  // PostgreSQL waits for its clients at a SIGTERM.
  for (const child of groups) killGroup(child, 'SIGINT');
  for (let waitedMs = 0; waitedMs < limitMs && groups.some((child) => killGroup(child, 0)); waitedMs += lookMs) {
    await sleep(lookMs);
  }
  for (const child of groups) killGroup(child, 'SIGKILL');
}
