import type { TLSSocket } from 'node:tls';

import type { TlsEndpointEntry } from '../../snapshot/contract.ts';
import { buildContext, withClientCa } from '../certificates/build-context.ts';
import type { CertificateSource } from '../https/client/certificate-source.ts';
import { TlsHandshakes } from '../tls/handshakes.ts';
import { checkShownCertificate, readShownCertificate } from '../tls/shown-certificate.ts';
import type { TcpClosed } from '../engine.ts';
import type { AcceptedClient, OpenConnection } from './connection.ts';
import { resetSocket } from './upstream.ts';

export interface TerminationParts {
  /** Undefined where no certificates are served. */
  readonly certificates: CertificateSource | undefined;
  readonly handshakeMs: number;
}

/** How TLS ends here for one endpoint. */
export interface TlsTermination {
  readonly handshakes: TlsHandshakes;
  /** PEM of the authorities by which certificates of clients are checked. */
  readonly clientCa: string | undefined;
}

/** Undefined if the connections of the endpoint are passed on as they are. Throws for a pair that cannot be used. */
export function loadTermination(
  { accountId, termination }: TlsEndpointEntry,
  clientCa: string | undefined,
  { certificates, handshakeMs }: TerminationParts,
): TlsTermination | undefined {
  if (termination === undefined) return undefined;
  const { pair } = termination;
  const own = pair && buildContext(pair);
  const contextFor = async (name: string) => {
    if (own !== undefined) return clientCa === undefined ? own : withClientCa(own, clientCa);
    if (certificates === undefined) throw new Error('No certificates are served here.');
    return certificates.secureContextFor(accountId, name, clientCa);
  };
  const asksForCertificate = clientCa !== undefined;
  return { handshakes: new TlsHandshakes({ contextFor, limitMs: handshakeMs, asksForCertificate }), clientCa };
}

interface OpeningParts {
  readonly termination: TlsTermination;
  readonly slot: { close(): void };
  /** TLS ends here; the callee owns the client and the slot. */
  readonly opened: (opening: TlsOpening, secured: AcceptedClient) => void;
  /** There is no connection: the client has been reset and the slot closed. */
  readonly closed: (opening: TlsOpening) => void;
}

/** A client that was let in by its address, whose TLS is being agreed on here. */
export class TlsOpening implements OpenConnection {
  readonly accepted: AcceptedClient;
  index = 0;
  readonly #parts: OpeningParts;
  readonly #startedMs = performance.now();
  #reason = 'handshake failed';
  #isOver = false;

  constructor(accepted: AcceptedClient, parts: OpeningParts) {
    this.accepted = { ...accepted, certificate: 'pending' };
    this.#parts = parts;
    accepted.client.on('close', this.#onClientClose);
    const ready = (secure: TLSSocket): void => {
      this.#onSecure(secure);
    };
    // The endpoint was found by the name in the client's first message, which then means nothing more.
    parts.termination.handshakes.accept(accepted.client, { ready }, '');
  }

  /** The handshake has a limit of its own. */
  watch(): void {}

  abort(reason: string): void {
    this.#end(reason);
  }

  get report(): TcpClosed {
    const { edge, sourceText } = this.accepted;
    const durationMs = performance.now() - this.#startedMs;
    return { edgeId: edge.rules.id, source: sourceText, bytesIn: 0, bytesOut: 0, durationMs, reason: this.#reason };
  }

  #onSecure(secure: TLSSocket): void {
    if (this.#isOver) {
      secure.destroy();
      return;
    }
    const { clientCa } = this.#parts.termination;
    const certificate = clientCa === undefined ? undefined : readShownCertificate(secure, clientCa);
    const refusal = checkShownCertificate(this.accepted.edge.rules.pipeline.clientCa, certificate);
    if (refusal !== undefined) {
      this.#end(`client certificate refused: ${certificate?.fault ?? 'the rules changed'}`);
      return;
    }
    this.#isOver = true;
    this.accepted.client.off('close', this.#onClientClose);
    this.#parts.opened(this, { ...this.accepted, client: secure, certificate });
  }

  readonly #onClientClose = (): void => {
    this.#end('handshake failed');
  };

  #end(reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#reason = reason;
    this.#parts.slot.close();
    resetSocket(this.accepted.client);
    this.#parts.closed(this);
  }
}
