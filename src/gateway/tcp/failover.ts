import type { Duplex } from 'node:stream';

import type { UpstreamSlot } from '../bounds/upstream-connections.ts';
import type { OpenOutcome } from '../upstream/upstream-source.ts';
import type { Candidate } from './backends.ts';
import type { AcceptedClient } from './connection.ts';
import { Opening } from './opening.ts';

/** One of several ways, as it is tried. */
export interface Member {
  readonly candidate: Candidate;
  /** The candidate had failed before the client came. */
  readonly isTrial: boolean;
  /** Undefined if it has no room for another connection. */
  take(): Pick<UpstreamSlot, 'close'> | undefined;
  /** Returns a function that gives the connection up; then the outcome is never called. */
  open(outcome: OpenOutcome): () => void;
}

interface FailoverParts {
  /** All but the last, if that can be asked as if it were the only one. */
  readonly members: readonly Member[];
  readonly failed: (member: Member, cause: string) => void;
  readonly reached: (member: Member) => void;
  /** The callee owns the client, the stream and the slot. */
  readonly opened: (failover: TcpFailover, stream: Duplex, slot: Pick<UpstreamSlot, 'close'>) => void;
  /** None of these can be reached. The callee owns the client. */
  readonly exhausted: (failover: TcpFailover) => void;
  readonly closed: (opening: Opening) => void;
}

/** A client for whom the members of a group, or the addresses of a backend, are tried one after another. */
export class TcpFailover extends Opening {
  readonly #parts: FailoverParts;

  constructor(accepted: AcceptedClient, parts: FailoverParts) {
    super(accepted, parts.closed);
    this.#parts = parts;
  }

  /** To be called once it is known to its edge. */
  start(): void {
    this.#try(0);
  }

  /** Most find a way at once; a client who waits may leave. */
  override watch(): void {
    this.watchClient();
  }

  #try(at: number): void {
    const { members, failed, reached, opened, exhausted } = this.#parts;
    const member = members[at];
    if (member === undefined) {
      this.leave();
      exhausted(this);
      return;
    }
    const slot = member.take();
    if (slot === undefined) {
      this.#try(at + 1);
      return;
    }
    const giveUp = member.open({
      opened: (stream) => {
        reached(member);
        this.leave();
        opened(this, stream, slot);
      },
      failed: (_, { message }) => {
        slot.close();
        failed(member, message);
        this.#try(at + 1);
      },
    });
    this.giveUp = () => {
      giveUp();
      slot.close();
    };
  }
}
