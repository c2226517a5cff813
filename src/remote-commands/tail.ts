import { setTimeout as sleep } from 'node:timers/promises';

import { ConnectionError } from '../../client/src/index.ts';
import type { GatehouseClient, ServerEvent, TrafficEvent } from '../../client/src/index.ts';
import type { Host } from '../command-line/host.ts';
import { CommandFault, exitCodes } from './exit.ts';
import { painter } from './output.ts';
import type { Colour, Paint } from './output.ts';
import { findServer } from './server.ts';
import type { ServerFlags } from './server.ts';
import { oneLine } from '../lib/terminal-text.ts';

interface TailFlags extends ServerFlags {
  readonly edge?: string;
  readonly verdict?: TrafficEvent['verdict'];
  readonly output?: 'text' | 'json';
}

const reconnectMs = 1_000;

/** Writes a line for each request and connection until the process is told to stop. */
export async function runTail(flags: TailFlags, host: Host): Promise<void> {
  const { client, url } = await findServer(flags, host);
  const stopping = new AbortController();
  const { signal } = stopping;
  for (const name of ['SIGINT', 'SIGTERM'] as const) host.once(name, () => stopping.abort());
  if (flags.edge !== undefined) await checkEdge(client, flags.edge, signal);
  const { carries_traffic: hasTraffic } = await client.call('TrafficHistory', { signal });
  if (!hasTraffic)
    host.stderr.write(`warning: the process at ${url} serves the API only: ask one that carries traffic\n`);
  host.stderr.write(`Following traffic of ${url}. Ctrl-C ends it.\n`);
  while (!signal.aborted) {
    try {
      for await (const event of client.events('TrafficEvents', { signal })) write(event, flags, host);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof ConnectionError)) throw error;
      host.stderr.write(`${error.message}\n`);
    }
    host.stderr.write('The stream has ended; what happens until it is open again is missed.\n');
    await sleep(reconnectMs, undefined, { signal }).catch(() => {});
  }
}

const reading = { hts: 'HttpsEdgesGet', tcp: 'TcpEdgesGet', tls: 'TlsEdgesGet' } as const;

/** An id that names no edge would be followed in silence. */
async function checkEdge(client: GatehouseClient, id: string, signal: AbortSignal): Promise<void> {
  const kind = /^edg(hts|tcp|tls)_/.exec(id)?.[1] as keyof typeof reading | undefined;
  if (kind === undefined)
    throw new CommandFault(
      `--edge ${JSON.stringify(id)} is not the id of an edge, which begins with edghts_, edgtcp_ or edgtls_: "gatehouse edges https list", "gatehouse edges tcp list" and "gatehouse edges tls list" show them`,
    );
  await client.call(reading[kind], { path: { id }, signal });
}

function write({ event, data }: ServerEvent, flags: TailFlags, host: Host): void {
  if (event === 'end') throw new CommandFault('this token may no longer follow traffic', exitCodes.refused);
  if (event === 'dropped') {
    // The server says how many.
    const { count } = data as { readonly count: number };
    host.stderr.write(`${count} events were left out, because there were too many at once\n`);
    return;
  }
  if (event !== 'request' && event !== 'connection') return;
  // The documented data of these two events.
  const traffic = data as TrafficEvent;
  if (flags.edge !== undefined && traffic.edge_id !== flags.edge) return;
  if (flags.verdict !== undefined && traffic.verdict !== flags.verdict) return;
  const line = flags.output === 'json' ? JSON.stringify(traffic) : lineOf(traffic, painter(host));
  host.stdout.write(`${line}\n`);
}

const colours: Readonly<Record<TrafficEvent['verdict'], Colour>> = {
  allowed: 'green',
  refused: 'red',
  warned: 'yellow',
};

function lineOf(event: TrafficEvent, paint: Paint): string {
  const { at, client_ip: source, hostport, method, path, phase, status, verdict, rule, restrictions, reason } = event;
  const what = method === undefined ? `${phase} connection to ${hostport}` : `${method} ${hostport}${path ?? ''}`;
  const parts = [
    source,
    what,
    ...(status === undefined ? [] : [String(status)]),
    ...(event.duration_ms === undefined ? [] : [`${event.duration_ms} ms`]),
    ...(restrictions === undefined ? [] : [`restriction ${restrictions.join(',')}`]),
    ...(rule === undefined ? [] : [`rule ${rule.action} ${rule.cidr}`]),
    ...(event.would_be_refused_by === undefined ? [] : [`not enforced: ${event.would_be_refused_by}`]),
    ...(reason === undefined ? [] : [reason]),
  ];
  const rest = oneLine(parts.join('  '));
  return `${at}  ${paint(colours[verdict], verdict.padEnd(7))}  ${rest}`;
}
