import { refused } from '../../api/admission/bearer.ts';
import { sessionOver } from '../../api/dashboard/errors.ts';
import { UserError } from '../../errors/user-error.ts';
import { LoginRefused } from '../../sign-in/provider.ts';
import type { ResourceContext } from '../resource.ts';
import type { ProviderLogin } from './provider-login.ts';
import { claimCheck, writeRefreshToken, writeUserSeen } from './table.ts';
import type { StoredSession } from './table.ts';

/** A session, as far as its login is checked. */
export interface CheckedSession extends Pick<StoredSession, 'hash' | 'accountId' | 'principalId'> {
  begunWith: StoredSession['begunWith'];
  /** The question to the provider that is under way. */
  checking: Promise<void> | undefined;
}

interface Outcomes {
  /** Another process has asked meanwhile. */
  moved(session: CheckedSession): void;
  ended(session: CheckedSession): Promise<void>;
}

/** A call waits so long for the provider; one that is slow ends no session. */
const checkWaitMs = 2_000;

/** Asks the provider whether the logins behind sessions still hold. */
export class LoginChecks {
  readonly #context: Pick<ResourceContext, 'store' | 'sealer'>;
  readonly #login: ProviderLogin | undefined;
  readonly #outcomes: Outcomes;

  constructor(
    context: Pick<ResourceContext, 'store' | 'sealer'>,
    login: ProviderLogin | undefined,
    outcomes: Outcomes,
  ) {
    this.#context = context;
    this.#login = login;
    this.#outcomes = outcomes;
  }

  /** Asks once for all calls that wait for it. Throws where the session is over. */
  async check(session: CheckedSession): Promise<void> {
    session.checking ??= this.#ask(session).finally(() => {
      session.checking = undefined;
    });
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, checkWaitMs);
    await Promise.race([session.checking, late]).finally(() => clearTimeout(timer));
  }

  /** One process asks at a time: a provider may take a refresh token that comes twice for a stolen one. */
  async #ask(session: CheckedSession): Promise<void> {
    const { store, sealer } = this.#context;
    const { hash, accountId, principalId: id, begunWith } = session;
    if (this.#login === undefined || begunWith.keyId !== undefined || begunWith.refreshToken === undefined) return;
    const { subject, checkedAtMs } = begunWith;
    const nowMs = Date.now();
    const refreshToken = await store.writeUnlogged((writer) => claimCheck(writer, hash, checkedAtMs, nowMs), accountId);
    if (refreshToken === undefined) {
      this.#outcomes.moved(session);
      return;
    }
    session.begunWith = { ...begunWith, checkedAtMs: nowMs };
    try {
      const token = sealer.open(refreshToken, contextOf(hash));
      const next = await this.#login.check({ id, accountId }, subject, token);
      const sealed = next === token ? refreshToken : sealer.seal(next, contextOf(hash));
      await store.writeUnlogged(async (writer) => {
        if (sealed !== refreshToken) await writeRefreshToken(writer, hash, sealed);
        await writeUserSeen(writer, id, nowMs);
      }, accountId);
    } catch (error) {
      await this.#fail(session, error);
    }
  }

  /** A provider that is away, or that does not take our own secret, says nothing about the person. */
  async #fail(session: CheckedSession, error: unknown): Promise<void> {
    const { accountId, principalId } = session;
    const { warn, provider } = this.#login?.settings ?? {};
    const isOver = error instanceof LoginRefused || error instanceof UserError;
    warn?.(
      { err: error, provider: provider?.issuer, user: principalId, account: accountId },
      isOver
        ? 'the identity provider no longer confirms a login: a session of the dashboard has ended'
        : 'the identity provider could not be asked about a session of the dashboard, which goes on',
    );
    if (!isOver) return;
    await this.#outcomes.ended(session).catch(() => {});
    throw refused(sessionOver);
  }
}

/** The context that the refresh token of a session is sealed for. */
export function contextOf(hash: string): string {
  return `dashboard_session ${hash}`;
}
