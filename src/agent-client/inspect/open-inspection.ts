import { once } from 'node:events';
import type { Server } from 'node:http';

import { parseIp } from '../../lib/ip/address.ts';
import { isLoopback } from '../../lib/ip/special-addresses.ts';
import { UsageFault } from '../target.ts';
import { createInspectServer } from './inspect-server.ts';
import type { InspectOptions } from './inspect-server.ts';

/** Where the local page listens, if the operator says so; undefined: at the first of the usual ports that is free. */
export type InspectAddress = { readonly host: string; readonly port: number } | undefined;

/** The port that people know, which is also that of the API: on the machine of the server it is left to it, even while that is away. */
const usualPort = 4040;
const triedPorts = 10;
const usualHost = '127.0.0.1';

/** Reads `off`, a port, or an address of this machine. Throws a `UsageFault`. */
export function parseInspect(text: string | undefined): InspectAddress | 'off' {
  if (text === undefined || text === 'off') return text;
  const [, host = usualHost, port = ''] = /^(?:(127\.0\.0\.1|localhost|\[::1\]):)?([0-9]{1,5})$/i.exec(text) ?? [];
  if (port === '' || Number(port) > 65_535)
    throw new UsageFault(
      `--inspect ${JSON.stringify(text)} is no address of this machine alone. Give a port, 127.0.0.1:PORT, [::1]:PORT or off; ` +
        'from elsewhere, reach it through a tunnel of your own, such as ssh -L 4040:127.0.0.1:4040',
    );
  return { host: host.toLowerCase().replaceAll(/[[\]]/g, ''), port: Number(port) };
}

/** The first port that is tried, by the server that the agent connects to. */
export function firstInspectPort(serverHost: string): number {
  const address = parseIp(serverHost);
  const isHere = serverHost === 'localhost' || (address !== undefined && isLoopback(address));
  return isHere ? usualPort + 1 : usualPort;
}

/** Opens the local page and returns its URL. Throws a `UsageFault` if the address that was asked for is taken. */
export async function openInspection(
  wanted: InspectAddress,
  firstPort: number,
  options: InspectOptions,
): Promise<string> {
  if (wanted !== undefined) {
    const server = await listen(wanted.host, wanted.port, options).catch((error: NodeJS.ErrnoException) => {
      throw new UsageFault(
        `--inspect: ${wanted.host}:${wanted.port} cannot be listened on (${error.code ?? error.message})`,
      );
    });
    return urlOf(server);
  }
  for (let port = firstPort; port < firstPort + triedPorts; port++) {
    const server = await listen(usualHost, port, options).catch(() => undefined);
    if (server !== undefined) return urlOf(server);
  }
  return urlOf(await listen(usualHost, 0, options));
}

async function listen(host: string, port: number, options: InspectOptions): Promise<Server> {
  const server = createInspectServer(options);
  server.listen(port, host);
  await once(server, 'listening');
  // Only visitors and the server keep an agent alive.
  return server.unref();
}

function urlOf(server: Server): string {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('it does not listen');
  const host = parseIp(address.address)?.family === 6 ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}
