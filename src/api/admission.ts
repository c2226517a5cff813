import type { IncomingMessage } from 'node:http';

import { malformedRequest } from '../errors/shared.ts';
import { UserError } from '../errors/user-error.ts';
import { formatIp, parseIp } from '../lib/ip/address.ts';
import type { IpAddress } from '../lib/ip/address.ts';
import type { CidrSet } from '../lib/ip/cidr-set.ts';
import { clientAddress } from '../lib/ip/client-address.ts';
import { sameText } from '../lib/secrets.ts';
import type { AccessTable } from '../snapshot/access.ts';
import type { Awaitable } from '../store/database.ts';
import { bearerToken } from './bearer.ts';
import type { Authenticator, Caller, Identity } from './caller.ts';
import { sourceRefused } from './errors.ts';

interface AdmissionOptions {
  readonly authenticator: Authenticator;
  readonly access: AccessTable;
  readonly trustedProxies: CidrSet;
}

export interface Admitted {
  readonly caller: Caller;
  /** Restrictions that are not enforced and would have refused the caller. */
  readonly warnedBy: readonly string[];
}

/** What was found out about the last call on a connection, and what of. */
interface Remembered {
  readonly authorization: string;
  readonly forwardedFor: string | string[] | undefined;
  readonly epoch: number;
  readonly revision: number;
  readonly admitted: Admitted;
}

/**
 * Lets callers in. A connection that says the same again, while nothing at all has changed, is the same caller: neither
 * the hash of its token nor its address is looked at anew. What is remembered goes with the connection.
 */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #remembered = new WeakMap<object, Remembered>();

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /** The caller of the last call on this connection, if it is the same one, and has said nothing else. */
  recall(connection: object, authorization: string, forwardedFor?: string | string[]): Admitted | undefined {
    const last = this.#remembered.get(connection);
    return last !== undefined &&
      last.epoch === this.#options.authenticator.epoch &&
      last.revision === this.#options.access.revision &&
      last.forwardedFor === forwardedFor &&
      sameText(last.authorization, authorization)
      ? last.admitted
      : undefined;
  }

  /** Who calls, and from where. Throws the `UserError` for one who may not. */
  admit(request: IncomingMessage): Awaitable<Admitted> {
    const { authorization = '', 'x-forwarded-for': forwardedFor } = request.headers;
    const last = this.recall(request.socket, authorization, forwardedFor);
    if (last !== undefined) return last;
    const { epoch } = this.#options.authenticator;
    const { revision } = this.#options.access;
    const finish = (identity: Identity): Admitted => {
      const admitted = this.#admitIdentity(identity, request);
      this.#remembered.set(request.socket, { authorization, forwardedFor, epoch, revision, admitted });
      return admitted;
    };
    const identity = this.#options.authenticator.authenticate(bearerToken(authorization));
    return identity instanceof Promise ? identity.then(finish) : finish(identity);
  }

  #admitIdentity({ principal, keyId }: Identity, request: IncomingMessage): Admitted {
    const { access, trustedProxies } = this.#options;
    const { accountId } = principal;
    const source = sourceOf(request, trustedProxies);
    const { refusedBy, warnedBy } = access.admit(accountId, 'api', source);
    if (refusedBy !== undefined)
      throw new UserError(sourceRefused, { address: formatIp(source), restriction: refusedBy });
    return { caller: { principal, keyId, accountId, source }, warnedBy };
  }
}

function sourceOf({ headers, socket }: IncomingMessage, trustedProxies: CidrSet): IpAddress {
  const peer = parseIp(socket.remoteAddress ?? '');
  if (peer === undefined) throw new UserError(malformedRequest, { reason: 'the connection is closed' });
  return clientAddress(peer, headers['x-forwarded-for'], trustedProxies);
}
