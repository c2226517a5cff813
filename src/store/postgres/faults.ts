import { ConstraintError, StoreFullError, StoreUnavailableError } from '../database.ts';
import { OverQuota } from '../usage.ts';
import { overQuotaCode } from './count-rows.ts';

/** SQLSTATE of a full disk. */
const fullCode = '53100';
/** SQLSTATE of a write where none is taken: at a standby, or by a session that is read-only. */
const readOnlyCode = '25006';
/** SQLSTATE of a lock that was not given in time: another session, such as that of another process that writes, keeps it. */
const lockedCode = '55P03';
/** SQLSTATE of a statement that took too long, or that somebody has cancelled. */
const cancelledCode = '57014';
/** SQLSTATE of a database or table that is missing, as it is while a backup is restored in its place. */
const missingCodes: ReadonlySet<string> = new Set(['3D000', '42P01']);
/** Message of the driver where the server asks for a password and the URL has none, or an empty one. */
const passwordMissing = /^SASL: .*client password must be/;
const passwordAsked =
  'PostgreSQL asks for a password, and none was given: put it into the URL (postgres://user:password@host/database) ' +
  'or into the environment variable PGPASSWORD';

/** Calls the driver, and turns its faults into those of the store. */
export async function guard<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw toStoreFault(error);
  }
}

export function toStoreFault(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof StoreUnavailableError) return error;
  const code = 'code' in error ? String(error.code) : '';
  // The words of the driver explain nothing.
  if (passwordMissing.test(error.message)) return new Error(passwordAsked);
  if (code === overQuotaCode) return new OverQuota(error.message, { cause: error });
  if (code.startsWith('23')) return new ConstraintError(error.message, { cause: error });
  if (code === fullCode) return new StoreFullError('the disk of the database is full', { cause: error });
  const reason = unavailability(code, error.message);
  return reason === undefined ? error : new StoreUnavailableError(reason, { cause: error });
}

function unavailability(code: string, message: string): string | undefined {
  if (code === readOnlyCode) return 'the database takes no writes: it is a standby, or read-only';
  if (code === lockedCode) return 'another session of the database keeps a lock';
  if (code === cancelledCode) return 'the database has ended the statement';
  if (missingCodes.has(code)) return 'the database is not there, or not whole';
  return isUnreachable(code, message) ? 'the database cannot be reached' : undefined;
}

/** True for a fault after which the connection is as good as before. */
export function isOfStatement(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === lockedCode || code === cancelledCode;
}

/** Connection faults: SQLSTATE of lost and refused connections, errors of the socket, and messages of the driver. */
function isUnreachable(code: string, message: string): boolean {
  return (
    /^(08|57P|53300|25P0[34])/.test(code) ||
    /^(ECONN|EPIPE|ENOTFOUND|EHOST|ENET|ETIMEDOUT|EAI_)/.test(code) ||
    /connection (terminated|timeout)|timeout (exceeded|expired)|query read timeout|not queryable|client was closed|connection error/i.test(
      message,
    )
  );
}
