import { setTimeout as sleep } from 'node:timers/promises';

import type { LeftSession, VisitorSession } from '../../modules/sign-in.ts';
import type { ClaimedLogin, KeptLogin, KeptLogins, LoginClaim } from '../../sign-in/kept-logins.ts';
import { StoreUnavailableError } from '../../store/database.ts';
import type { Row } from '../../store/database.ts';
import type { Store } from '../../store/store.ts';
import type { VisitorKeeper } from './keeper.ts';
import type { SharedSealer } from './service.ts';
import { writeSeen } from './sessions.ts';

/** A process that has not said for so long what the provider answered is gone. */
const askingSeconds = 60;
/** Until then, and not longer, the outcome is tried to be written. */
const releaseEveryMs = 2_000;
const releaseTries = 25;
/** A clock may be behind the one of the process that has asked last. */
const skewSeconds = 300;

const contextOf = (sessionId: string) => `visitor login ${sessionId}`;

/** Keeps logins in the rows of their sessions, sealed. */
export class StoredLogins implements KeptLogins {
  readonly #store: Store;
  readonly #sealer: SharedSealer;
  readonly #keeper: Pick<VisitorKeeper, 'leave'>;

  constructor(store: Store, sealer: SharedSealer, keeper: Pick<VisitorKeeper, 'leave'>) {
    this.#store = store;
    this.#sealer = sealer;
    this.#keeper = keeper;
  }

  async keep(session: VisitorSession, login: KeptLogin): Promise<void> {
    const sealed = await this.#seal(session.id, login);
    await this.#store.writeUnlogged(async (writer) => {
      await writeSeen(writer, session);
      const sql = 'UPDATE app_sessions SET login = $2, checked_at_ms = $3, is_asking = 0 WHERE id = $1';
      await writer.run(sql, [session.id, sealed, session.signedInAt * 1000]);
    }, session.accountId);
  }

  async claim(claim: LoginClaim): Promise<ClaimedLogin> {
    const { sessionId, accountId, former } = claim;
    const read = 'SELECT login, checked_at_ms, is_asking FROM app_sessions WHERE id = $1';
    const [seen] = await this.#store.queries.all(read, [sessionId]);
    const adopted = former === undefined ? null : await this.#seal(sessionId, former);
    if (seen === undefined || (seen[0] === null && adopted === null)) return { state: 'gone' };
    if (seen[0] !== null && !isDue(seen, claim)) return this.#describe(sessionId, seen);
    const { row, isClaimed } = await this.#store.writeUnlogged(async (writer) => {
      const [newest] = await writer.all(read, [sessionId]);
      if (newest === undefined || (newest[0] !== null && !isDue(newest, claim)))
        return { row: newest, isClaimed: false };
      const kept: Row = [newest[0] ?? adopted, claim.now * 1000, 1];
      const sql = 'UPDATE app_sessions SET login = $2, checked_at_ms = $3, is_asking = $4 WHERE id = $1';
      await writer.run(sql, [sessionId, ...kept]);
      return { row: kept, isClaimed: true };
    }, accountId);
    // The database is asked for keys, which needs a connection beside that of a transaction.
    if (row === undefined) return { state: 'gone' };
    if (!isClaimed) return this.#describe(sessionId, row);
    const login = await this.#open(sessionId, row[0]);
    return login === undefined ? { state: 'gone' } : { state: 'claimed', login };
  }

  async release(
    { id, accountId }: Pick<VisitorSession, 'id' | 'accountId'>,
    checkedAt: number,
    login: KeptLogin | undefined,
  ): Promise<void> {
    const sql = 'UPDATE app_sessions SET login = COALESCE($2, login), checked_at_ms = $3, is_asking = 0 WHERE id = $1';
    const write = async () => {
      const sealed = login === undefined ? null : await this.#seal(id, login);
      await this.#store.writeUnlogged((writer) => writer.run(sql, [id, sealed, checkedAt * 1000]), accountId);
    };
    await write().catch((error: unknown) => {
      if (!(error instanceof StoreUnavailableError)) throw error;
      void this.#retry(write);
    });
  }

  leave(session: LeftSession): Promise<void> {
    return this.#keeper.leave(session);
  }

  /** A provider may have given a new token, and would take the former for a stolen one. */
  async #retry(write: () => Promise<void>): Promise<void> {
    for (let left = releaseTries; left > 0; left--) {
      await sleep(releaseEveryMs, undefined, { ref: false });
      const isDone = await write().then(
        () => true,
        () => false,
      );
      if (isDone) return;
    }
  }

  /** Tells what another process has found, or that it is about to. */
  async #describe(sessionId: string, [sealed, checkedAtMs, isAsking]: Row): Promise<ClaimedLogin> {
    if (Number(isAsking) === 1) return { state: 'asking' };
    const login = await this.#open(sessionId, sealed);
    if (login === undefined) return { state: 'gone' };
    return { state: 'asked', login, checkedAt: Number(checkedAtMs) / 1000 };
  }

  #seal(sessionId: string, login: KeptLogin): Promise<string> {
    return this.#sealer.seal(JSON.stringify(login), contextOf(sessionId));
  }

  async #open(sessionId: string, sealed: Row[number] | undefined): Promise<KeptLogin | undefined> {
    const text = await this.#sealer.open(String(sealed), contextOf(sessionId));
    // Only `#seal` makes texts that open.
    return text === undefined ? undefined : (JSON.parse(text) as KeptLogin);
  }
}

function isDue([, checkedAtMs, isAsking]: Row, { now, checkSeconds }: LoginClaim): boolean {
  const checkedAt = Number(checkedAtMs) / 1000;
  if (checkedAt > now + skewSeconds) return true;
  return now >= checkedAt + (Number(isAsking) === 1 ? askingSeconds : checkSeconds);
}
