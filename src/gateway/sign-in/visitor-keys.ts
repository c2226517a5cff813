import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

import { SharedCache } from '../../lib/shared-cache.ts';
import type { SetAside, SnapshotFollower, SnapshotUpdate, VisitorKeyEntry } from '../../snapshot/contract.ts';

interface Key {
  readonly number: number;
  readonly secret: Buffer;
  readonly privateJwk: string;
}

/** A session, and those with whom it may end. */
export interface SessionFacts {
  readonly id: string;
  readonly accountId: string;
  readonly edgeId: string;
  readonly person: string;
  /** In seconds since 1970. */
  readonly signedInAt: number;
}

const nonceBytes = 12;
const tagBytes = 16;
const sealedForm = /^(\d{1,9})\.([\w-]{40,4000})$/;
/** Sessions that were ended at this process, until the snapshot has them. Accounts share the places. */
export const endedHereLimit = 10_000;

/** Sign-outs of so long are told together: each has what is open looked through. */
const tellMs = 200;

/** A session that has ended, and that the snapshot may not have yet. */
export type EndedHere = readonly [accountId: string, sessionId: string];

/** Seals cookies with the keys that all processes share, and knows the sessions that were ended. */
export class VisitorKeys implements SnapshotFollower {
  #keys = new Map<string, Key>();
  #newest: Key | undefined;
  #ended = new Set<string>();
  /** Until when sessions of an account, an edge or a person were begun that have ended, in seconds since 1970. */
  #endedUntil = new Map<string, number>();
  readonly #endedHere = new SharedCache<true>(endedHereLimit);
  #hasEndedHere = false;
  readonly #endedAccounts = new Set<string>();
  #isTelling = false;
  #tellEnded: ((accounts: ReadonlySet<string>) => Promise<void>) | undefined;

  prepare(update: SnapshotUpdate, setAside: SetAside): () => void {
    const read = update.set.flatMap((entry) => (entry.kind === 'visitor_key' ? readKey(entry, setAside) : []));
    const ended = update.set.filter((entry) => entry.kind === 'ended_session');
    return () => {
      if (update.full) {
        this.#keys = new Map();
        this.#ended = new Set();
        this.#endedUntil = new Map();
      }
      for (const { kind, id } of update.removed) {
        if (kind === 'visitor_key') this.#keys.delete(id);
        else if (kind === 'ended_session' && !this.#ended.delete(id)) this.#endedUntil.delete(id);
      }
      for (const key of read) this.#keys.set(String(key.number), key);
      for (const { id, begunUntil } of ended) {
        if (begunUntil === undefined) this.#ended.add(id);
        else this.#endedUntil.set(id, begunUntil);
      }
      this.#newest = [...this.#keys.values()].reduce<Key | undefined>(
        (newest, key) => (newest === undefined || key.number > newest.number ? key : newest),
        undefined,
      );
    };
  }

  isEnded({ id, accountId, edgeId, person, signedInAt }: SessionFacts): boolean {
    if (this.#ended.size > 0 && this.#ended.has(id)) return true;
    if (this.#hasEndedHere && this.#endedHere.get(accountId, id) === true) return true;
    return this.#endedUntil.size > 0 && signedInAt <= this.#markOf(accountId, edgeId, person);
  }

  /** The moment in which a session begins that is none of those that have ended: marks count whole seconds, of another clock. */
  beginsAt(now: number, { accountId, edgeId, person }: Pick<SessionFacts, 'accountId' | 'edgeId' | 'person'>): number {
    return this.#endedUntil.size === 0 ? now : Math.max(now, this.#markOf(accountId, edgeId, person) + 1);
  }

  #markOf(...owners: readonly string[]): number {
    return Math.max(...owners.map((owner) => this.#endedUntil.get(owner) ?? -1));
  }

  /** The session is over here at once; the snapshot has it a moment later, or much later while the database is away. */
  end(accountId: string, sessionId: string): void {
    this.#hasEndedHere = true;
    this.#endedHere.set(accountId, sessionId, true);
    this.#endedAccounts.add(accountId);
    this.#tellSoon();
  }

  /** Calls back with the accounts whose sessions have ended here, a moment later for all of them, and not before the last call has resolved. */
  onEnded(tell: (accounts: ReadonlySet<string>) => Promise<void>): void {
    this.#tellEnded = tell;
  }

  #tellSoon(): void {
    if (this.#isTelling) return;
    this.#isTelling = true;
    setTimeout(() => void this.#tell(), tellMs).unref();
  }

  async #tell(): Promise<void> {
    const accounts = new Set(this.#endedAccounts);
    this.#endedAccounts.clear();
    try {
      await this.#tellEnded?.(accounts);
    } finally {
      this.#isTelling = false;
      if (this.#endedAccounts.size > 0) this.#tellSoon();
    }
  }

  /** Throws where there is no key yet. */
  seal(plain: string, context: string): string {
    const key = this.#newest;
    if (key === undefined) throw new Error('there is no key for sessions of visitors yet');
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', key.secret, nonce, { authTagLength: tagBytes }).setAAD(
      Buffer.from(context),
    );
    const sealed = Buffer.concat([nonce, cipher.update(plain, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${key.number}.${sealed.toString('base64url')}`;
  }

  /** Undefined for a text that was not sealed here for the context. */
  open(text: string, context: string): string | undefined {
    const [, number = '', encoded = ''] = sealedForm.exec(text) ?? [];
    const key = this.#keys.get(number);
    if (key === undefined) return undefined;
    const bytes = Buffer.from(encoded, 'base64url');
    // Another spelling of the same bytes would be another cookie for the same session.
    if (bytes.length < nonceBytes + tagBytes || bytes.toString('base64url') !== encoded) return undefined;
    const decipher = createDecipheriv('aes-256-gcm', key.secret, bytes.subarray(0, nonceBytes), {
      authTagLength: tagBytes,
    });
    decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-tagBytes));
    try {
      const opened = [decipher.update(bytes.subarray(nonceBytes, -tagBytes)), decipher.final()];
      return Buffer.concat(opened).toString('utf8');
    } catch {
      return undefined;
    }
  }

  /** The newest first, as JWKs. */
  get signingKeys(): readonly { readonly number: number; readonly privateJwk: string }[] {
    return [...this.#keys.values()].toSorted((one, other) => other.number - one.number);
  }
}

function readKey(entry: VisitorKeyEntry, setAside: SetAside): readonly Key[] {
  const secret = Buffer.from(entry.secret, 'base64');
  if (entry.fault === undefined && secret.length === 32)
    return [{ number: Number(entry.id), secret, privateJwk: entry.privateJwk }];
  // Sessions that it has sealed are over, and new ones have another key.
  setAside(entry, new Error(entry.fault ?? 'a key for sessions of visitors is damaged'));
  return [];
}
