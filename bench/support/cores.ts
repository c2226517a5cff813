import { spawnSync } from 'node:child_process';
import { cpus } from 'node:os';

const hasTaskset = spawnSync('taskset', ['--version']).status === 0;
const count = cpus().length;

/** The server that is measured has a core of its own; everything else shares the others. */
export const serverCores = '0';
export const loadCores = count >= 4 ? '2-3' : '1';
export const allCores = `0-${count - 1}`;
export const pinned = hasTaskset && count >= 2;

/** Pins the command to the cores where that is possible. */
export function onCores(cores: string, command: readonly string[]): readonly string[] {
  return pinned ? ['taskset', '-c', cores, ...command] : command;
}

/** Moves this process, and children that are not pinned, off the server's core. */
export function leaveServerCore(): void {
  if (pinned) spawnSync('taskset', ['-a', '-c', '-p', loadCores, String(process.pid)]);
}
