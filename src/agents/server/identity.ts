import { createHmac, timingSafeEqual } from 'node:crypto';

import { newId } from '../../lib/ids.ts';

/**
 * Tells an agent that comes back from one that only claims so. Agents keep what they are given and send it again; it is
 * signed, so every process that has the key recognizes it, and none has to remember it.
 */
export class AgentIdentity {
  readonly #key: Buffer;

  /** `key` is a secret of the installation, the same in all processes and after a restart. */
  constructor(key: Buffer) {
    this.#key = key;
  }

  /** Returns the id under which the agent was known to this credential, or a new one. */
  recognize(
    clientId: string,
    cookie: string,
    credentialId: string,
  ): { readonly clientId: string; readonly isKnown: boolean } {
    const isKnown = clientId !== '' && equal(cookie, this.cookie(clientId, credentialId));
    return { clientId: isKnown ? clientId : newId('ac'), isKnown };
  }

  cookie(clientId: string, credentialId: string): string {
    return this.#sign('session', clientId, credentialId);
  }

  /** Proves that a tunnel was given to this client. */
  tunnelToken(clientId: string, tunnelId: string): string {
    return this.#sign('tunnel', clientId, tunnelId);
  }

  ownsTunnel(clientId: string, tunnelId: string, token: string): boolean {
    return tunnelId !== '' && equal(token, this.tunnelToken(clientId, tunnelId));
  }

  #sign(purpose: string, ...parts: readonly string[]): string {
    return createHmac('sha256', this.#key)
      .update(JSON.stringify([purpose, ...parts]))
      .digest('base64url');
  }
}

function equal(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
