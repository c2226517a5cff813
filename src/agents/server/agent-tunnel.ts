import type { DuplexOptions } from 'node:stream';

import type { MuxStream, StreamReceiver } from '../mux/mux-stream.ts';
import { StreamDuplex } from '../mux/stream-duplex.ts';
import type { BindRequest, LabelsRequest } from '../wire/bind.ts';
import { proxyStart } from '../wire/proxy-header.ts';
import type { ProxyHeader } from '../wire/proxy-header.ts';
import type { AgentSession } from './agent-session.ts';

/** Says who comes and how: all of a `ProxyHeader` but the tunnel. */
export type Visitor = Omit<ProxyHeader, 'tunnelId'>;

/** Something that an agent has bound: an endpoint of its own, or a set of labels. */
export class AgentTunnel {
  readonly id: string;
  readonly session: AgentSession;
  readonly request: BindRequest | LabelsRequest;
  /** Empty for labels. */
  readonly url: string;
  readonly startedMs = Date.now();

  constructor(id: string, session: AgentSession, request: BindRequest | LabelsRequest, url: string) {
    this.id = id;
    this.session = session;
    this.request = request;
    this.url = url;
  }

  /**
   * Opens a connection through the agent to the program behind it. `first` are bytes of the visitor that have come already;
   * they save a frame. Returns undefined if the session has no room for another stream, is draining, or is over.
   */
  open(visitor: Visitor, receiver: StreamReceiver, first?: Buffer): MuxStream | undefined {
    return this.session.openStream(receiver, proxyStart({ ...visitor, tunnelId: this.id }, first));
  }

  /** The same as a `Duplex`. */
  openDuplex(visitor: Visitor, options: Pick<DuplexOptions, 'allowHalfOpen'> = {}): StreamDuplex | undefined {
    const duplex = new StreamDuplex(options);
    const stream = this.open(visitor, duplex);
    return stream && duplex.attach(stream);
  }
}
