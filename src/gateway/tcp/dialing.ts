import type { Duplex } from 'node:stream';

import { agentStreamsInUse } from '../../errors/shared.ts';
import type { UpstreamSlot } from '../bounds/upstream-connections.ts';
import type { TunnelBackend, VisitorFacts } from '../tunnels/tunnel-backend.ts';
import type { TunnelBackends } from '../tunnels/tunnel-backends.ts';
import type { OpenOutcome } from '../upstream/upstream-source.ts';
import type { AcceptedClient } from './connection.ts';
import { Opening } from './opening.ts';

export interface DialingParts {
  readonly backend: TunnelBackend;
  readonly tunnels: TunnelBackends;
  readonly slot: Pick<UpstreamSlot, 'close'>;
  readonly visitor: () => VisitorFacts;
  /** The way to the backend is open; the callee owns the stream and the slot. */
  readonly opened: (dialing: TcpDialing, stream: Duplex) => void;
  /** The slot is closed before. */
  readonly closed: (opening: Opening) => void;
}

/** Connections of TCP are never kept for another client. */
export const noneIdle = (): number => 0;

/** A client that waits for a way through an agent. */
export class TcpDialing extends Opening {
  readonly #parts: DialingParts;

  constructor(accepted: AcceptedClient, parts: DialingParts) {
    super(accepted, parts.closed);
    this.#parts = parts;
    this.#dial(parts.backend);
  }

  #dial(backend: TunnelBackend): void {
    const { visitor, opened } = this.#parts;
    const outcome: OpenOutcome = {
      opened: (stream) => {
        this.leave();
        opened(this, stream);
      },
      failed: (error) => {
        if (error === agentStreamsInUse) this.end('agent full');
        else this.#wait(backend);
      },
    };
    this.#underWay(backend.open(visitor, noneIdle, outcome));
  }

  #underWay(giveUp: () => void): void {
    this.giveUp = () => {
      giveUp();
      this.#parts.slot.close();
    };
  }

  /** Waits for an agent that is on its way back. Rules that change meanwhile are checked as for every open connection. */
  #wait(backend: TunnelBackend): void {
    const { tunnels } = this.#parts;
    const { edge } = this.accepted;
    const waiting = tunnels.wait(backend, {
      accountId: edge.rules.accountId,
      untilMs: this.startedMs + tunnels.waitMs,
      retry: () => {
        const found = tunnels.find(backend.id);
        if (found === undefined) this.end('no backend');
        else this.#dial(found);
      },
      giveUp: () => {
        this.end('connect failed');
      },
    });
    if (typeof waiting === 'object') {
      this.#underWay(waiting.leave);
      this.watchClient();
    } else {
      this.end(waiting === 'full' ? 'too many wait' : 'connect failed');
    }
  }
}
