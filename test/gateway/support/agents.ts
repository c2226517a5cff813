import assert from 'node:assert/strict';
import { connect } from 'node:net';
import type { TestContext } from 'node:test';

import type { MuxStream } from '../../../src/agents/mux/mux-stream.ts';
import { StreamDuplex } from '../../../src/agents/mux/stream-duplex.ts';
import type { AgentTunnel } from '../../../src/agents/server/agent-tunnel.ts';
import type { AgentLimits } from '../../../src/agents/server/limits.ts';
import { readProxyHeader } from '../../../src/agents/wire/proxy-header.ts';
import type { ProxyHeader } from '../../../src/agents/wire/proxy-header.ts';
import { TunnelFault } from '../../../src/gateway/tunnels/dialer.ts';
import type { TunnelDialer } from '../../../src/gateway/tunnels/dialer.ts';
import type { TunnelBackendEntry, TunnelRef } from '../../../src/snapshot/contract.ts';
import { startListener } from '../../agents/support/listener.ts';
import type { TestListener } from '../../agents/support/listener.ts';
import { connectAgent } from '../../agents/support/test-agent.ts';
import type { TestAgent } from '../../agents/support/test-agent.ts';

/** An agent that forwards to a port of this machine. */
export interface ForwardingAgent {
  readonly agent: TestAgent;
  readonly tunnel: TunnelRef;
  /** What each of its streams has said of its visitor. */
  readonly visitors: ProxyHeader[];
}

export interface Agents {
  readonly dialer: TunnelDialer;
  /** Connections that were dialled, with the id of their tunnel. */
  readonly dialled: string[];
  start(forwardTo: number): Promise<ForwardingAgent>;
}

/** Starts a listener of agents, real ones behind it, and the way to them in this process. */
export async function startAgents(t: TestContext, limits: Partial<AgentLimits> = {}): Promise<Agents> {
  const started = await startListener(t, { limits });
  const dialled: string[] = [];
  const loads = new Map<string, number>();
  let names = 0;
  const dialer: TunnelDialer = {
    async dial({ id }, { address, proto, isTls }) {
      const tunnel = findTunnel(started, id);
      if (tunnel === undefined) throw new TunnelFault('gone', 'no session has the tunnel');
      const visitor = { clientAddr: address, proto, edgeType: 'undefined' as const, passthroughTls: isTls };
      const stream = tunnel.openDuplex(visitor);
      if (stream === undefined) throw new TunnelFault('full', 'the session has no room');
      dialled.push(id);
      loads.set(id, (loads.get(id) ?? 0) + 1);
      stream.once('close', () => loads.set(id, (loads.get(id) ?? 0) - 1));
      return stream;
    },
    load: ({ id }) => loads.get(id) ?? 0,
  };
  const start = async (forwardTo: number): Promise<ForwardingAgent> => {
    const visitors: ProxyHeader[] = [];
    const agent = await connectAgent(started.port, { visitor: (stream) => forward(stream, forwardTo, visitors) });
    await agent.auth('token-a');
    const { Id: id } = await agent.bind(`n${++names}.test`);
    assert.ok(typeof id === 'string');
    return { agent, tunnel: { id, holder: 'here' }, visitors };
  };
  return { dialer, dialled, start };
}

export function tunnelBackend(
  id: string,
  agents: readonly ForwardingAgent[],
  more: Partial<TunnelBackendEntry> = {},
): TunnelBackendEntry {
  return { kind: 'tunnel_backend', id, tunnels: agents.map(({ tunnel }) => tunnel), ...more };
}

function findTunnel({ listener }: TestListener, id: string): AgentTunnel | undefined {
  for (const session of listener.sessions) {
    const tunnel = session.tunnels.get(id);
    if (tunnel !== undefined) return tunnel;
  }
  return undefined;
}

/** Joins a visitor's stream to a connection to the port, each direction with its own end. */
function forward(stream: MuxStream, port: number, visitors: ProxyHeader[]): StreamDuplex {
  const visitor = new StreamDuplex().attach(stream);
  let held: Buffer = Buffer.alloc(0);
  const onData = (chunk: Buffer): void => {
    held = Buffer.concat([held, chunk]);
    const read = readProxyHeader(held);
    if (read.state === 'more') return;
    assert.ok(read.state === 'done', 'the header can be read');
    visitors.push(read.header);
    visitor.off('data', onData);
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => visitor.destroy());
    visitor
      .on('error', () => {})
      .on('close', () => {
        if (!socket.readableEnded || !socket.writableEnded) socket.resetAndDestroy();
      });
    if (read.rest.length > 0) socket.write(read.rest);
    visitor.pipe(socket);
    socket.pipe(visitor);
  };
  return visitor.on('data', onData);
}
