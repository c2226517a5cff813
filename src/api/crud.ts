import { isDeepStrictEqual } from 'node:util';

import type { Static, TSchema } from 'typebox';

import { quote, UserError } from '../errors/user-error.ts';
import { ready, whenReady } from '../lib/awaitable.ts';
import type { Awaitable } from '../lib/awaitable.ts';
import type { Queries } from '../store/database.ts';
import type { Transaction } from '../store/write/transaction.ts';
import type { Stored } from '../store/table.ts';
import type { Call } from './call.ts';
import {
  idempotencyKeyReused,
  invalidIdempotencyKey,
  notFound,
  preconditionFailed,
  readOnlyField,
  unknownField,
} from './errors.ts';
import { checkIfMatch, setEtag } from './http/etag.ts';
import { withIdempotencyKey } from './idempotency.ts';
import { acceptNewId, newIdErrors } from './new-id.ts';
import { operation } from './operation.ts';
import type { FieldError, Operation, OptionHeader } from './operation.ts';
import type { Rights } from './admission/rights.ts';
import { propertiesOf } from './body/body.ts';
import { describeValue, whyNeverSet } from './body/validation.ts';
import { findNamed, presentSingle } from './readable.ts';
import type { Listed, Presentation } from './readable.ts';
import { getOperation, listOperation } from './read-operations.ts';
import { reverterOf } from './reverter.ts';
import type { Revertible } from './reverter.ts';

type Verb = 'create' | 'update' | 'delete';

/** A resource with the five usual operations. Its own rules stand in its functions. */
interface CrudDefinition<Document extends Stored, Create extends TSchema, Update extends TSchema>
  extends Listed<Document>, Revertible<Document> {
  /** `create` is given where it differs from other writes. */
  readonly rights: { readonly read: Rights; readonly write: Rights; readonly create?: Rights };
  /** The key of the list in its envelope; undefined where there is no list. */
  readonly listKey?: string;
  readonly createBody: Create;
  readonly updateBody: Update;
  readonly fieldErrors?: Readonly<Record<string, FieldError>>;
  /** Fields that belong elsewhere, with a sentence that says where. */
  readonly misplacedFields?: Readonly<Record<string, string>>;
  /** True: its writes may be rehearsed. */
  readonly isRehearsable?: boolean;
  /** Writes that the lock-out guard checks; the caller can override it. */
  readonly guarded?: readonly Verb[];
  /** Checks whether the caller may create this, also before the answer to an earlier call is repeated. */
  authorizeCreate?(transaction: Transaction, call: Call<Static<Create>>): Promise<void>;
  /** Makes ready, in slices, what takes long of a body; kept until it is written. Throws nothing for one that will be refused. */
  prepare?(body: Static<Create> | Static<Update>): Promise<object>;
  create(transaction: Transaction, call: Call<Static<Create>>): Promise<Document | Created<Document>>;
  update(transaction: Transaction, call: Call<Static<Update>>, document: Document): Promise<Document>;
  /** Called when a write is in force: sets headers, and answers fields that only then are known. */
  afterWrite?(document: Document, call: Call): object;
  /** Something that whoever sees the document should know; sent as a header with every answer that shows it alone. */
  warning?(queries: Queries, document: Document): Promise<string | undefined>;
  /** Fields that only the first answer to a creation shows. */
  readonly secretFields?: readonly string[];
  /** The state that an ETag stands for; the document itself by default. */
  etagState?(queries: Queries, document: Document): Promise<object>;
}

type Crud<Document extends Stored, Create extends TSchema, Update extends TSchema> = CrudDefinition<
  Document,
  Create,
  Update
> &
  Presentation<Document>;

/** A document with secrets that only the answer to its creation shows. */
export class Created<Document extends Stored> {
  readonly document: Document;
  /** By field of the view. */
  readonly secrets: Readonly<Record<string, string>>;

  constructor(document: Document, secrets: Readonly<Record<string, string>>) {
    this.document = document;
    this.secrets = secrets;
  }
}

export function crudOperations<Document extends Stored, Create extends TSchema, Update extends TSchema>(
  crud: Crud<Document, Create, Update>,
): readonly Operation[] {
  const {
    store,
    table,
    path,
    noun,
    name,
    tag,
    view,
    rights,
    errors,
    fieldErrors = {},
    misplacedFields = {},
    notFoundError = notFound,
    takesNewId = false,
    isRehearsable = false,
    mayBeLarge = table.mayBeLong,
  } = crud;
  const one = `${path}/{id}`;
  const lockout = (verb: Verb): readonly OptionHeader[] =>
    crud.guarded?.includes(verb) === true ? ['AllowLockout'] : [];
  const stateOf = (queries: Queries, document: Document): Awaitable<object> =>
    crud.etagState?.(queries, document) ?? ready(document);
  const presentOne = (queries: Queries, document: Document, call: Call): Awaitable<object | undefined> => {
    if (crud.warning === undefined) return presentSingle(crud, queries, document, call);
    return crud.warning(queries, document).then((warning) => {
      if (warning !== undefined) call.setHeader('Gatehouse-Warning', warning);
      return presentSingle(crud, queries, document, call);
    });
  };
  const findForWrite = async (transaction: Transaction, call: Call) => {
    const document = await findNamed(transaction, crud, call);
    if (call.ifMatch !== undefined) checkIfMatch(call, await stateOf(transaction, document));
    return document;
  };
  return [
    operation({
      tag,
      isRehearsable,
      rights: rights.create ?? rights.write,
      method: 'POST',
      path,
      operationId: `${name}Create`,
      summary: `Create ${noun}`,
      body: crud.createBody,
      fieldErrors,
      misplacedFields,
      status: 201,
      response: view,
      accepts: ['IdempotencyKey', ...lockout('create'), ...(takesNewId ? (['NewId'] as const) : [])],
      errors: [invalidIdempotencyKey, idempotencyKeyReused, ...(takesNewId ? newIdErrors : []), ...errors.create],
      handle: async (call) => {
        let written: Document | undefined;
        const prepared = new Set([await crud.prepare?.(call.body)]);
        const shown = await store.write(call.actor, async (tx) => {
          await crud.authorizeCreate?.(tx, call);
          return withIdempotencyKey(tx, call, path, crud.secretFields ?? [], async () => {
            const newId = takesNewId ? await acceptNewId(tx, table, call) : undefined;
            const made = await crud.create(tx, { ...call, newId });
            const { document, secrets } = made instanceof Created ? made : new Created(made, {});
            setEtag(call, await stateOf(tx, document));
            written = document;
            return { ...(await presentOne(tx, document, call)), ...secrets };
          });
        });
        prepared.clear();
        return written === undefined ? shown : { ...shown, ...crud.afterWrite?.(written, call) };
      },
    }),
    ...(crud.listKey === undefined ? [] : [listOperation(crud, crud.listKey)]),
    getOperation(crud, (document, call) =>
      whenReady(stateOf(store.queries, document), (state) => {
        setEtag(call, state);
        return presentOne(store.queries, document, call);
      }),
    ),
    operation({
      tag,
      isRehearsable,
      rights: rights.write,
      method: 'PATCH',
      path: one,
      operationId: `${name}Update`,
      summary: `Update ${noun}`,
      description: 'A field that is absent keeps its value.',
      body: crud.updateBody,
      takesReadOnly: true,
      fieldErrors,
      misplacedFields,
      status: 200,
      response: view,
      mayBeLarge,
      accepts: ['IfMatch', ...lockout('update')],
      errors: [notFoundError, preconditionFailed, readOnlyField, ...errors.update],
      handle: async (call) => {
        const prepared = new Set([await crud.prepare?.(call.body)]);
        const [document, state] = await store.write(call.actor, async (tx) => {
          const previous = await findForWrite(tx, call);
          await checkReadOnly(call, crud, () => presentSingle(crud, tx, previous, call));
          const updated = await crud.update(tx, call, previous);
          return [updated, await stateOf(tx, updated)] as const;
        });
        prepared.clear();
        setEtag(call, state);
        crud.afterWrite?.(document, call);
        return presentOne(store.queries, document, call);
      },
    }),
    operation({
      tag,
      isRehearsable,
      rights: rights.write,
      method: 'DELETE',
      path: one,
      operationId: `${name}Delete`,
      summary: `Delete ${noun}`,
      status: 204,
      accepts: ['IfMatch', ...lockout('delete')],
      errors: [notFoundError, preconditionFailed, ...errors.delete],
      reverter: reverterOf(crud),
      handle: (call) => store.write(call.actor, async (tx) => crud.remove(tx, call, await findForWrite(tx, call))),
    }),
  ];
}

/** Why a module that a request may set is refused: in the form of an answer it shows what it refers to. */
const takenByIds =
  'here as answers show it, where a request names what it refers to by ids, as in "ip_policy_ids" or "backend_id"';

/** Throws for a field that cannot be set and is not as it is shown. */
async function checkReadOnly(
  { readOnly }: Call,
  { view, updateBody }: { readonly view: TSchema; readonly updateBody: TSchema },
  show: () => Awaitable<object | undefined>,
): Promise<void> {
  const given = Object.entries(readOnly);
  if (given.length === 0) return;
  // As it stands in an answer: without fields that are undefined.
  const shown: Readonly<Record<string, unknown>> = JSON.parse(JSON.stringify(await show()));
  for (const [field, value] of given) {
    const stored = Object.hasOwn(shown, field) ? shown[field] : undefined;
    if (isDeepStrictEqual(stored, value)) continue;
    const neverSet = whyNeverSet(view, field);
    if (neverSet !== undefined) throw new UserError(unknownField, { field: quote(field), remedy: neverSet });
    const words = stored === undefined || stored === null ? 'not set' : describeValue(stored);
    const isTakenOtherwise = Object.hasOwn(propertiesOf(updateBody), field);
    throw new UserError(readOnlyField, { field: quote(field), stored: isTakenOtherwise ? takenByIds : words });
  }
}
