import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';

import { dataFrame, windowBytes } from '../../../src/agents/wire/frame.ts';
import type { MuxStream } from '../../../src/agents/mux/mux-stream.ts';
import { Recorder } from '../../../test/agents/support/mux-peers.ts';
import { signIn } from '../../../test/agents/support/sign-in.ts';
import type { TestAgent } from '../../../test/agents/support/test-agent.ts';
import type { AttackOrder } from './messages.ts';

const frames = Buffer.concat(Array.from({ length: 256 }, () => Buffer.from('x')));

/** An agent that answers its visitor in frames of one byte. */
export class AgentLine {
  readonly closed = 0;
  sentBytes = 0;
  readonly #order: AttackOrder;
  #agent: TestAgent | undefined;
  #stream: MuxStream | undefined;
  #visitor: Socket | undefined;
  #payload = 0;

  constructor(order: AttackOrder) {
    this.#order = order;
  }

  async open(): Promise<void> {
    const { port, agent: access = { ca: '', token: '' } } = this.#order;
    const arrived = Promise.withResolvers<MuxStream>();
    const visitor = (stream: MuxStream): Recorder => {
      arrived.resolve(stream);
      return new Recorder();
    };
    const { agent } = await signIn(port, access.ca, access.token, { visitor });
    this.#agent = agent;
    const bound = await agent.call('bind', {
      Id: '',
      Proto: 'tcp',
      ForwardsTo: '',
      Opts: { Addr: '' },
      Extra: { Token: '' },
    });
    const { port: visited } = new URL(String(bound['URL']).replace('tcp:', 'http:'));
    this.#visitor = connect(Number(visited), '127.0.0.1');
    this.#visitor.on('error', () => {}).resume();
    await once(this.#visitor, 'connect');
    this.#visitor.write('hello');
    this.#stream = await arrived.promise;
  }

  prepare(): void {}

  /** Stays within the first window, which is enough for the time of an attack. */
  send(bytes: number): number {
    const [agent, stream] = [this.#agent, this.#stream];
    if (agent === undefined || stream === undefined || agent.socket.writableLength > bytes) return 0;
    const [one] = dataFrame(stream.id, 0, frames.subarray(0, 1));
    const count = Math.min(Math.floor(bytes / one.length), windowBytes - this.#payload);
    if (count <= 0) return 0;
    this.#payload += count;
    agent.socket.write(Buffer.concat(Array.from({ length: count }, () => one)));
    this.sentBytes += count * one.length;
    return count * one.length;
  }
}
