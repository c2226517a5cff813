import { TLSSocket } from 'node:tls';

import type { Pipeline } from '../../modules/module.ts';
import type { TlsEndpointEntry } from '../../snapshot/contract.ts';
import { buildContext, withClientCa } from '../certificates/build-context.ts';
import type { CertificateSource } from '../https/client/certificate-source.ts';
import { TlsHandshakes } from '../tls/handshakes.ts';
import { checkShownCertificate, readShownCertificate } from '../tls/shown-certificate.ts';
import type { AcceptedClient } from './connection.ts';
import { Opening } from './opening.ts';

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
  { clientCa, needsTls13 }: Pipeline,
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
  const handshakes = new TlsHandshakes({ contextFor, limitMs: handshakeMs, asksForCertificate, needsTls13 });
  return { handshakes, clientCa };
}

interface TlsOpeningParts {
  readonly termination: TlsTermination;
  /** TLS ends here; the callee owns the client. */
  readonly opened: (opening: TlsOpening, secured: AcceptedClient) => void;
  readonly closed: (opening: Opening) => void;
}

/** A client whose TLS is being agreed on here. */
export class TlsOpening extends Opening {
  readonly #parts: TlsOpeningParts;

  constructor(accepted: AcceptedClient, parts: TlsOpeningParts) {
    super({ ...accepted, certificate: 'pending' }, parts.closed);
    this.#parts = parts;
    const ready = (secure: TLSSocket): void => {
      this.#onSecure(secure);
    };
    // The edge was found by the name in the client's first message, which then means nothing more.
    parts.termination.handshakes.accept(accepted.client, { ready }, '');
  }

  /** The handshake ends with the client. */
  protected override giveUp(): void {}

  protected override get whenClientLeaves(): string {
    return 'handshake failed';
  }

  #onSecure(secure: TLSSocket): void {
    if (this.isOver) {
      secure.destroy();
      return;
    }
    const { clientCa } = this.#parts.termination;
    const certificate = clientCa === undefined ? undefined : readShownCertificate(secure, clientCa);
    const secured = { ...this.accepted, client: secure, certificate };
    if (meetsTlsRules(this.accepted.edge.rules.pipeline, secured)) {
      this.leave();
      this.#parts.opened(this, secured);
    } else {
      this.end(certificate?.fault === undefined ? 'rules changed' : `client certificate refused: ${certificate.fault}`);
    }
  }
}

/** Whether the handshake of a client, if there was one here, was as the rules ask for now. */
export function meetsTlsRules(
  { clientCa, needsTls13 }: Pick<Pipeline, 'clientCa' | 'needsTls13'>,
  { client, certificate }: Pick<AcceptedClient, 'client' | 'certificate'>,
): boolean {
  // One that is under way is checked when it is over.
  if (certificate === 'pending') return true;
  if (needsTls13 && !(client instanceof TLSSocket && client.getProtocol() === 'TLSv1.3')) return false;
  return checkShownCertificate(clientCa, certificate) === undefined;
}
