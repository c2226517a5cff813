import { agentStreamsInUse } from '../../errors/shared.ts';
import { agentUpstreamDown, endpointOffline } from '../errors.ts';
import type { TunnelBackend, VisitorFacts } from '../tunnels/tunnel-backend.ts';
import type { OpenOutcome, UpstreamSource } from './upstream-source.ts';

/** Connections through agents: each stream is a connection of HTTP/1.1. */
export class TunnelSource implements UpstreamSource {
  readonly silentEnd = agentUpstreamDown;
  readonly backend: TunnelBackend;
  readonly #connectMs: number;

  constructor(backend: TunnelBackend, connectMs: number) {
    this.backend = backend;
    this.#connectMs = connectMs;
  }

  get id(): string {
    return this.backend.id;
  }

  get isShared(): boolean {
    return this.backend.proxyProtocol === undefined;
  }

  preferredWay(idleOf: (via: string) => number): string | undefined {
    return this.backend.choose(idleOf)?.id;
  }

  reused(): void {
    this.backend.taken();
  }

  open(visitor: () => VisitorFacts, idleOf: (via: string) => number, outcome: OpenOutcome): () => void {
    return this.backend.open(visitor(), this.#connectMs, idleOf, {
      opened: (stream, via) => {
        outcome.opened(stream, via);
      },
      failed: (fault) => {
        outcome.failed(fault.reason === 'full' ? agentStreamsInUse : endpointOffline, fault);
      },
    });
  }
}
