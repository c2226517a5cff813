import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, openSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Below the ephemeral range, so that no outgoing connection takes a port between its choice and its use, and above the fixed ranges of some tests. */
const lowestPort = 18_000;
const portCount = 12_000;

/** A file in this folder claims its port for the whole run: files run side by side, and a port is used after its choice. */
const claims = process.env['TEST_CLAIMED_PORTS'] ?? mkdtempSync(join(tmpdir(), 'gatehouse-ports-'));
mkdirSync(claims, { recursive: true });

/** Returns a port that nobody listens on, and that no other test gets. */
export function freePort(host = '127.0.0.1'): Promise<number> {
  return freePorts(1, host);
}

/** Returns the first of so many ports in a row. */
export async function freePorts(count: number, host = '127.0.0.1'): Promise<number> {
  for (;;) {
    const first = lowestPort + Math.floor(Math.random() * (portCount - count));
    const ports = Array.from({ length: count }, (_, at) => first + at);
    if (ports.every((port) => claim(port)) && (await areFree(ports, host))) return first;
  }
}

function claim(port: number): boolean {
  try {
    closeSync(openSync(join(claims, String(port)), 'wx'));
    return true;
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
