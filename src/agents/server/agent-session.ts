import { newId } from '../../lib/ids.ts';
import { Heartbeat } from '../mux/heartbeat.ts';
import type { MuxSession, SessionEnd } from '../mux/mux-session.ts';
import type { MuxStream, StreamReceiver } from '../mux/mux-stream.ts';
import { callPeer, RpcFailed } from '../mux/rpc.ts';
import type { AgentInfo } from '../wire/auth.ts';
import { commandMessage, parseErrorText, readError, stopTunnelMessage } from '../wire/commands.ts';
import type { AgentCommand, CommandAnswer } from '../wire/commands.ts';
import { codes } from '../wire/frame.ts';
import { streamTypes, typedStart } from '../wire/stream-types.ts';
import type { AgentTunnel } from './agent-tunnel.ts';
import type { AgentBoundReports } from './bounds.ts';
import type { Admission, AgentSource } from './host.ts';
import { agentStreams } from './limits.ts';
import type { AgentLimits } from './limits.ts';

export interface SessionFacts {
  /** Stays the same when the agent reconnects; a secret between the agent and us. */
  readonly clientId: string;
  /** True if the agent was known by this `clientId` before. */
  readonly isResumed: boolean;
  readonly source: AgentSource;
  readonly agent: AgentInfo;
  readonly admission: Admission;
}

/** How often a session that drains is looked at. */
const drainLookMs = 50;

/** An agent that is authenticated and connected. */
export class AgentSession {
  readonly id = newId('ts');
  readonly startedMs = Date.now();
  readonly facts: SessionFacts;
  readonly #mux: MuxSession;
  readonly #bounds: AgentBoundReports;
  readonly #heartbeat: Heartbeat;
  readonly #commandMs: number;
  readonly #tunnels = new Map<string, AgentTunnel>();
  /** Tunnels that are being bound. */
  #binding = 0;
  #isDraining = false;

  constructor(facts: SessionFacts, mux: MuxSession, limits: AgentLimits, bounds: AgentBoundReports) {
    const { heartbeatMs, silenceMs, commandMs } = limits;
    this.facts = facts;
    this.#mux = mux;
    this.#bounds = bounds;
    this.#commandMs = commandMs;
    this.#heartbeat = new Heartbeat(mux, { intervalMs: heartbeatMs, silenceMs });
  }

  get isOpen(): boolean {
    return this.#mux.isOpen;
  }

  /** True once it takes no more visitors. */
  get isDraining(): boolean {
    return this.#isDraining;
  }

  /** True if a stream can be opened for another visitor. */
  get hasRoom(): boolean {
    const { localStreams, maxLocalStreams, canOpen } = this.#mux;
    return canOpen && localStreams + this.#keptForHeartbeat < maxLocalStreams && !this.#isDraining;
  }

  /** Streams to the agent that are open, except that of the heartbeat. */
  get visitors(): number {
    return this.#mux.usedStreams - (this.#heartbeat.isOpen ? 1 : 0);
  }

  /** Streams that count for the bound of all, among them those that are kept free for the agent's own and the heartbeat. */
  get streams(): number {
    return this.#mux.localStreams + this.#keptForHeartbeat + agentStreams;
  }

  /** Bytes that visitors have not read. */
  get unreadBytes(): number {
    return this.#mux.heldBytes;
  }

  get tunnels(): ReadonlyMap<string, AgentTunnel> {
    return this.#tunnels;
  }

  /** Runs `bind` if the session may have another tunnel, counting those that are being bound; else throws `tooMany`. */
  async reserveTunnel<T>(limit: number, tooMany: (limit: number) => Error, bind: () => Promise<T>): Promise<T> {
    if (this.#tunnels.size + this.#binding >= limit) {
      this.#bounds.refused('agent_max_tunnels', {});
      throw tooMany(limit);
    }
    this.#binding++;
    try {
      return await bind();
    } finally {
      this.#binding--;
    }
  }

  addTunnel(tunnel: AgentTunnel): void {
    this.#tunnels.set(tunnel.id, tunnel);
  }

  removeTunnel(id: string): AgentTunnel | undefined {
    const tunnel = this.#tunnels.get(id);
    this.#tunnels.delete(id);
    return tunnel;
  }

  get #keptForHeartbeat(): number {
    return this.#heartbeat.isOpen ? 0 : 1;
  }

  /** Opens a stream of a visitor: see `AgentTunnel.open`. */
  openStream(receiver: StreamReceiver, first: Buffer): MuxStream | undefined {
    if (this.hasRoom) return this.#mux.open(receiver, first);
    const bound = this.facts.agent.family === 'rust' ? 'agent_rust_streams' : 'agent_max_streams';
    if (this.isOpen && !this.#isDraining) this.#bounds.refused(bound, { session: this.id });
    return undefined;
  }

  /** Resolves with false if the agent does not answer in time. */
  givesSignOfLife(limitMs: number): Promise<boolean> {
    return this.#heartbeat.ask(limitMs);
  }

  /** Makes the agent carry a command out. An agent that leaves at a stop or restart has obeyed. */
  async command(command: AgentCommand): Promise<CommandAnswer> {
    const support = this.facts.agent.supports[command];
    if (support !== 'yes') return { outcome: 'unsupported', reason: support.reason };
    const { type, body } = commandMessage(command);
    try {
      const error = readError(await callPeer(this.#mux, type, body, this.#commandMs));
      return error === undefined ? { outcome: 'done' } : { outcome: 'unsupported', reason: parseErrorText(error).text };
    } catch (error) {
      const isObeyed = error instanceof RpcFailed && error.cause === 'broken' && !this.isOpen && command !== 'update';
      return { outcome: isObeyed ? 'done' : 'unanswered' };
    }
  }

  /** Tells the agent that a tunnel is over, with a text for its user. Agents do not answer this. */
  stopTunnel(tunnelId: string, message: string, errorCode: string): void {
    if (this.removeTunnel(tunnelId) === undefined) return;
    const body = JSON.stringify(stopTunnelMessage({ tunnelId, message, errorCode }));
    const stream = this.#mux.open(
      {
        onBytes: (bytes) => stream?.credit(bytes.length),
        onEnd: () => {},
        onDrain: () => {},
        onClose: () => {
          clearTimeout(timer);
        },
      },
      typedStart(streamTypes.stopTunnel, body),
    );
    const timer = setTimeout(() => stream?.reset(), this.#commandMs);
    stream?.end();
  }

  /** Takes no more visitors, and closes when the last one has left, or at the limit. */
  async drain(limitMs: number): Promise<void> {
    this.#isDraining = true;
    const deadlineMs = performance.now() + limitMs;
    while (this.isOpen && this.visitors > 0 && performance.now() < deadlineMs) {
      await new Promise((resolve) => {
        setTimeout(resolve, drainLookMs);
      });
    }
    this.close({ by: 'us', code: codes.none, text: 'the server is going down' });
  }

  /** To be called when the connection is over. */
  ended(): void {
    this.#heartbeat.stop();
  }

  close({ code, text }: SessionEnd): void {
    this.#mux.close(code, text);
  }
}
