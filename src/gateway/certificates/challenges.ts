import type { SecureContext } from 'node:tls';

import type { ChallengeEntry, SetAside, SnapshotFollower, SnapshotUpdate } from '../../snapshot/contract.ts';
import { NoCertificate } from '../https/client/certificate-source.ts';
import { buildContext } from './build-context.ts';

/** The only protocol that a certificate authority offers in the handshake by which it checks a name (RFC 8737). */
export const challengeProtocol = 'acme-tls/1';

interface Challenge {
  readonly entry: ChallengeEntry;
  readonly context: SecureContext | undefined;
}

/** The challenges of certificate authorities that are under way; there are a few at most, and mostly none. */
export class Challenges implements SnapshotFollower {
  /** By id. */
  #all: ReadonlyMap<string, Challenge> = new Map();

  prepare(update: SnapshotUpdate, setAside: SetAside): () => void {
    const touched = update.full || [...update.set, ...update.removed].some(({ kind }) => kind === 'challenge');
    if (!touched) return () => {};
    const all = new Map(update.full ? [] : this.#all);
    for (const { kind, id } of update.removed) if (kind === 'challenge') all.delete(id);
    for (const entry of update.set) {
      if (entry.kind !== 'challenge') continue;
      try {
        all.set(entry.id, { entry, context: entry.tls && buildContext(entry.tls) });
      } catch (error) {
        all.delete(entry.id);
        setAside(entry, error);
      }
    }
    return () => {
      this.#all = all;
    };
  }

  /** The text that an authority must find under the token. */
  textFor(hostname: string, token: string): string | undefined {
    const found = this.#all.values().find(({ entry }) => entry.hostname === hostname && entry.http?.token === token);
    return found?.entry.http?.text;
  }

  /** True for the handshake of an authority that checks a name whose challenge is under way. */
  isAsked(serverName: string | undefined, protocols: readonly string[]): boolean {
    if (protocols.length !== 1 || protocols[0] !== challengeProtocol) return false;
    return serverName !== undefined && this.#find(serverName) !== undefined;
  }

  async contextFor(hostname: string): Promise<SecureContext> {
    const context = this.#find(hostname);
    if (context === undefined) throw new NoCertificate('No challenge for this name is under way.');
    return context;
  }

  #find(hostname: string): SecureContext | undefined {
    return this.#all.values().find(({ entry, context }) => entry.hostname === hostname && context)?.context;
  }
}
