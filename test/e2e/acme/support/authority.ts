import { spawn } from 'node:child_process';
import { openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { until } from '../../gateway/support/until.ts';
import { directory } from './names.ts';

/** The folder of the authority, which `own-network.ts` has made. */
const folder = process.env['TEST_ACME_FOLDER'] ?? '';
const startMs = 60_000;

/** Starts the authority again without any account or order; its root stays, so that it is trusted as before. */
export async function wipeAuthority(): Promise<void> {
  const pidFile = join(folder, 'caddy.pid');
  const pid = Number(readFileSync(pidFile, 'utf8'));
  process.kill(pid);
  await until(async () => !isRunning(pid), 'the authority has ended', startMs);
  rmSync(join(folder, 'caddy', 'acme_server'), { recursive: true });
  const log = openSync(join(folder, 'caddy.log'), 'a');
  const caddy = spawn('caddy', ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'], {
    stdio: ['ignore', log, log],
    env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder },
  });
  caddy.unref();
  writeFileSync(pidFile, String(caddy.pid));
  await until(answers, 'the authority answers again', startMs);
}

async function answers(): Promise<boolean> {
  try {
    return (await fetch(directory)).ok;
  } catch {
    return false;
  }
}

/** A process that has ended may stay as a zombie where its parent does not wait for it. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
