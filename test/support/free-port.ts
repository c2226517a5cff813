import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Below the ephemeral range, so that no outgoing connection takes a port between its choice and its use, and above the fixed ranges of some tests. */
const lowestPort = 18_000;
const portCount = 12_000;

/**
 * A file in this folder claims its port for a run, whose process it names: files, and runs, go side by side, and a port is
 * used after its choice.
 */
const claims = join(tmpdir(), `gatehouse-test-ports-${process.getuid?.() ?? 0}`);
mkdirSync(claims, { recursive: true });
const run = process.env['TEST_RUN'] ?? String(process.pid);

/** Returns a port that nobody listens on, and that no other test gets. */
export function freePort(host = '127.0.0.1'): Promise<number> {
  return freePorts(1, host);
}

/** Returns the first of so many ports in a row. */
export async function freePorts(count: number, host = '127.0.0.1'): Promise<number> {
  for (;;) {
    const first = lowestPort + Math.floor(Math.random() * (portCount - count));
    const ports = Array.from({ length: count }, (_, at) => first + at);
    const taken = ports.findIndex((port) => !claim(port));
    if (taken === -1 && (await areFree(ports, host))) return first;
    for (const port of taken === -1 ? ports : ports.slice(0, taken)) rmSync(pathOf(port), { force: true });
  }
}

function claim(port: number): boolean {
  const path = pathOf(port);
  // The claim of a run that has ended counts no more.
  if (existsSync(path) && !isHeld(path)) rmSync(path, { force: true });
  try {
    writeFileSync(path, run, { flag: 'wx' });
    return true;
  } catch {
    return false;
  }
}

function pathOf(port: number): string {
  return join(claims, String(port));
}

function isHeld(path: string): boolean {
  try {
    const pid = Number(readFileSync(path, 'utf8'));
    // A claim that is being written names none yet.
    return pid === 0 || process.kill(pid, 0);
  } catch {
    return false;
  }
}

async function areFree(ports: readonly number[], host: string): Promise<boolean> {
  for (const port of ports) {
    const server = createServer().listen(port, host);
    try {
      await once(server, 'listening');
    } catch {
      return false;
    }
    server.close();
    await once(server, 'close');
  }
  return true;
}
