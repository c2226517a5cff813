import type { Call } from '../../api/call.ts';
import { withText } from '../../api/body/text-fields.ts';
import type { TextFields } from '../../api/body/text-fields.ts';
import { UserError } from '../../errors/user-error.ts';
import { acceptHeaders } from '../../modules/header-changes.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import { nameUsers } from '../name-users.ts';
import { createReferable } from '../references.ts';
import { backendInUse } from '../static-backends/errors.ts';
import { httpResponseBackends } from './table.ts';
import type { HttpResponseBackend } from './table.ts';

export const path = '/backends/http_response';
export const referable = createReferable({
  kind: 'backend',
  path,
  table: 'http_response_backends',
  documents: httpResponseBackends,
});

export interface HttpResponseChange extends TextFields {
  readonly status_code?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Checks headers, and leaves their names as they are written: tools that compare would change them again and again. */
export function acceptAnswerHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  acceptHeaders(headers);
  return headers;
}

/** The writes of single calls and of configurations. */
export const httpResponseWrites = {
  async create(transaction: Transaction, { caller, body: given, newId }: Call<HttpResponseChange>) {
    const { status_code = 200, headers = {}, body = '' } = given;
    const first = httpResponseBackends.newDocument(caller.accountId, newId);
    const answer = { status_code, headers: acceptAnswerHeaders(headers), body };
    return httpResponseBackends.insert(transaction, withText({ ...first, ...answer }, given));
  },
  async update(transaction: Transaction, { body: given }: Call<HttpResponseChange>, previous: HttpResponseBackend) {
    // Official clients send {} for what was not given.
    const hasHeaders = given.headers !== undefined && Object.keys(given.headers).length > 0;
    return this.replace(transaction, given, previous, hasHeaders ? given.headers : previous.headers);
  },
  /** The same, with headers that may be none. */
  async replace(
    transaction: Transaction,
    given: HttpResponseChange,
    previous: HttpResponseBackend,
    headers: Readonly<Record<string, string>> = {},
  ) {
    const { status_code = previous.status_code, body = previous.body } = given;
    const changed = { ...previous, status_code, headers: acceptAnswerHeaders(headers), body };
    return httpResponseBackends.update(transaction, previous, withText(changed, given));
  },
  async remove(transaction: Transaction, _call: Call, backend: HttpResponseBackend): Promise<void> {
    const users = await referable.referrersOf(transaction, backend.id);
    if (users.length > 0)
      throw new UserError(backendInUse, {
        backend: backend.id,
        users: await nameUsers(transaction, backend.account_id, users),
      });
    await httpResponseBackends.delete(transaction, backend);
  },
};
