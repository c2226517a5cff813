import { TLSSocket } from 'node:tls';

import { holdsUntil, runSteps } from '../../modules/run-steps.ts';
import type { ConnectionServices, TlsTerms } from '../../modules/step.ts';
import type { TlsEndpointEntry } from '../../snapshot/contract.ts';
import { buildContext, withClientCa } from '../certificates/build-context.ts';
import type { CertificateSource } from '../https/client/certificate-source.ts';
import { connectionFacts } from '../tls/connection-facts.ts';
import { TlsHandshakes } from '../tls/handshakes.ts';
import { termsReader } from '../tls/terms.ts';
import type { TermsNow } from '../tls/terms.ts';
import { describeRefusal, readShownCertificate } from '../tls/shown-certificate.ts';
import type { AcceptedClient } from './connection.ts';
import type { ConnectionList } from './connection-list.ts';
import { Opening } from './opening.ts';

export interface TerminationParts {
  readonly secrets: ConnectionServices['secrets'];
  /** Undefined where no certificates are served. */
  readonly certificates: CertificateSource | undefined;
  readonly handshakeMs: number;
}

/** How TLS ends here for one client. */
interface TlsEnd {
  readonly handshakes: TlsHandshakes;
  /** PEM of the authorities by which certificates of clients are checked. */
  readonly clientCa: string | undefined;
}

/** How TLS ends here for one endpoint. Throws where a certificate is missing by now. */
export type TlsTermination = () => TlsEnd;

/** Undefined if the connections of the endpoint are passed on as they are. Throws for a pair that cannot be used. */
export function loadTermination(
  { accountId, termination }: TlsEndpointEntry,
  { clientCa, needsTls13, tlsTerms }: ConnectionList,
  parts: TerminationParts,
): TlsTermination | undefined {
  if (tlsTerms !== undefined) return byTerms(accountId, tlsTerms, parts);
  if (termination === undefined) return undefined;
  const { pair } = termination;
  const own = pair && buildContext(pair);
  const end = makeEnd(accountId, { own, clientCa, needsTls13, needsTls12: false }, parts);
  return () => end;
}

/** By a policy, whose certificates may stand in vaults. */
function byTerms(accountId: string, tlsTerms: TlsTerms, parts: TerminationParts): TlsTermination {
  const readTerms = termsReader(tlsTerms, parts.secrets);
  let known: { readonly key: string; readonly end: TlsEnd } | undefined;
  return () => {
    const terms = readTerms(accountId);
    if (known?.key !== terms.key) known = { key: terms.key, end: makeEnd(accountId, terms, parts) };
    return known.end;
  };
}

function makeEnd(
  accountId: string,
  { own, clientCa, needsTls13, needsTls12 }: Omit<TermsNow, 'key'>,
  { certificates, handshakeMs }: TerminationParts,
): TlsEnd {
  const contextFor = async (name: string) => {
    if (own !== undefined) return clientCa === undefined ? own : withClientCa(own, clientCa);
    if (certificates === undefined) throw new Error('No certificates are served here.');
    return certificates.secureContextFor(accountId, name, clientCa);
  };
  const asksForCertificate = clientCa !== undefined;
  const handshakes = new TlsHandshakes({
    contextFor,
    limitMs: handshakeMs,
    asksForCertificate,
    needsTls13,
    needsTls12,
  });
  return { handshakes, clientCa };
}

interface TlsOpeningParts {
  readonly termination: TlsEnd;
  /** TLS ends here; the callee owns the client. */
  readonly opened: (opening: TlsOpening, secured: AcceptedClient) => void;
  readonly closed: (opening: TlsOpening) => void;
}

/** A client whose TLS is being agreed on here. */
export class TlsOpening extends Opening {
  readonly #parts: TlsOpeningParts;
  /** Why the client's certificate was refused. */
  refusal: string | undefined;
  /** The module that has refused the client. */
  refusedBy: string | undefined;

  constructor(accepted: AcceptedClient, parts: TlsOpeningParts) {
    super({ ...accepted, isSecuring: true }, () => parts.closed(this), 'handshake failed');
    this.#parts = parts;
    const ready = (secure: TLSSocket): void => {
      this.#onSecure(secure);
    };
    // The edge was found by the name in the client's first message, which then means nothing more.
    parts.termination.handshakes.accept(accepted.client, { ready }, '');
  }

  #onSecure(secure: TLSSocket): void {
    if (this.isOver) {
      secure.destroy();
      return;
    }
    const { clientCa } = this.#parts.termination;
    const certificate = clientCa === undefined ? undefined : readShownCertificate(secure, clientCa);
    const isTls13 = secure.getProtocol() === 'TLSv1.3';
    const { port, visit: before } = this.accepted;
    const facts = connectionFacts(secure, port, before.facts().startedMs);
    const visit = { ...before, certificate, isTls13, facts, at: 0, done: undefined };
    const { secure: steps, moduleOf } = this.accepted.edge.rules.list;
    if (runSteps(steps, visit) === undefined) {
      this.leave();
      const untilMs = holdsUntil(steps, visit);
      this.#parts.opened(this, { ...this.accepted, client: secure, visit, isSecuring: false, untilMs });
    } else {
      this.refusedBy = moduleOf.get(steps[visit.at]!);
      this.refusal = certificate === undefined ? undefined : describeRefusal(certificate);
      this.end('rules changed');
    }
  }
}
