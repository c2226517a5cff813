import { Type } from 'typebox';
import type { Static, TSchema } from 'typebox';

import { quote, UserError } from '../errors/user-error.ts';
import type { ErrorDefinition } from '../errors/user-error.ts';
import { whenReady } from '../store/database.ts';
import type { Awaitable, Queries } from '../store/database.ts';
import type { Transaction } from '../store/group-commit.ts';
import type { Store } from '../store/store.ts';
import type { Stored, Table } from '../store/table.ts';
import type { Call } from './call.ts';
import { idempotencyKeyReused, invalidIdempotencyKey, notFound, preconditionFailed } from './errors.ts';
import { checkIfMatch, setEtag } from './etag.ts';
import { withIdempotencyKey } from './idempotency.ts';
import { operation } from './operation.ts';
import type { FieldError, Operation, OptionHeader } from './operation.ts';
import { nextPageQuery } from './query.ts';
import type { Rights } from './rights.ts';

type Verb = 'create' | 'update' | 'delete';

/** A resource with the five usual operations. Its own rules stand in its functions. */
interface CrudDefinition<Document extends Stored, Create extends TSchema, Update extends TSchema> {
  readonly store: Store;
  readonly table: Table<Document>;
  readonly path: string;
  /** `IP policy`, as it stands in messages. */
  readonly noun: string;
  /** `IP policies`. */
  readonly plural: string;
  /** The error for an id that names none. */
  readonly notFoundError?: ErrorDefinition<'noun' | 'id'>;
  /** `IpPolicies`, as operation ids start. */
  readonly name: string;
  readonly tag: string;
  /** `create` is given where it differs from other writes. */
  readonly rights: { readonly read: Rights; readonly write: Rights; readonly create?: Rights };
  /** The key of the list in its envelope; undefined where there is no list. */
  readonly listKey?: string;
  readonly view: TSchema;
  readonly createBody: Create;
  readonly updateBody: Update;
  readonly fieldErrors?: Readonly<Record<string, FieldError>>;
  readonly errors: Readonly<Record<Verb, readonly ErrorDefinition[]>>;
  /** Writes that the lock-out guard checks; the caller can override it. */
  readonly guarded?: readonly Verb[];
  /** For resources below another one: whether the document is below the one that the path names. */
  readonly belongs?: (document: Document, call: Call) => boolean;
  /** Checks whether the caller may create this, also before the answer to an earlier call is repeated. */
  authorizeCreate?(transaction: Transaction, call: Call<Static<Create>>): Promise<void>;
  create(transaction: Transaction, call: Call<Static<Create>>): Promise<Document | Created<Document>>;
  update(transaction: Transaction, call: Call<Static<Update>>, document: Document): Promise<Document>;
  remove(transaction: Transaction, call: Call, document: Document): Promise<void>;
  /** Fields that only the first answer to a creation shows. */
  readonly secretFields?: readonly string[];
  /** The state that an ETag stands for; the document itself by default. */
  etagState?(queries: Queries, document: Document): Promise<object>;
}

/** The views of documents in answers: exactly the fields of `view`. `presentAll` is for those that need a query. */
type Presentation<Document> =
  | { present(document: Document, call: Call): object; readonly presentAll?: never }
  | { readonly present?: never; presentAll(documents: readonly Document[], call: Call): Awaitable<readonly object[]> };

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
    notFoundError = notFound,
  } = crud;
  const one = `${path}/{id}`;
  const lockout = (verb: Verb): readonly OptionHeader[] =>
    crud.guarded?.includes(verb) === true ? ['AllowLockout'] : [];
  const found = (document: Document | undefined, call: Call): Document => {
    if (document === undefined || crud.belongs?.(document, call) === false) {
      throw new UserError(notFoundError, { noun, id: quote(call.params['id']) });
    }
    return document;
  };
  const stateOf = (queries: Queries, document: Document): Awaitable<object> =>
    crud.etagState?.(queries, document) ?? document;
  const presentOne = (document: Document, call: Call): Awaitable<object | undefined> =>
    whenReady(presentMany(crud, [document], call), ([shown]) => shown);
  const findForWrite = async (transaction: Transaction, call: Call) => {
    const document = found(await table.find(transaction, call.caller.accountId, call.params['id'] ?? ''), call);
    if (call.ifMatch !== undefined) checkIfMatch(call, await stateOf(transaction, document));
    return document;
  };
  return [
    operation({
      tag,
      rights: rights.create ?? rights.write,
      method: 'POST',
      path,
      operationId: `${name}Create`,
      summary: `Create ${noun}`,
      body: crud.createBody,
      fieldErrors,
      status: 201,
      response: view,
      accepts: ['IdempotencyKey', ...lockout('create')],
      errors: [invalidIdempotencyKey, idempotencyKeyReused, ...errors.create],
      handle: (call) =>
        store.write(call.actor, async (tx) => {
          await crud.authorizeCreate?.(tx, call);
          return withIdempotencyKey(tx, call, path, crud.secretFields ?? [], async () => {
            const made = await crud.create(tx, call);
            const { document, secrets } = made instanceof Created ? made : new Created(made, {});
            setEtag(call, await stateOf(tx, document));
            return { ...(await presentOne(document, call)), ...secrets };
          });
        }),
    }),
    ...(crud.listKey === undefined ? [] : [listOperation(crud, crud.listKey)]),
    operation({
      tag,
      rights: rights.read,
      method: 'GET',
      path: one,
      operationId: `${name}Get`,
      summary: `Get ${noun}`,
      status: 200,
      response: view,
      errors: [notFoundError],
      handle: (call) => {
        const show = (document: Document) =>
          whenReady(stateOf(store.queries, document), (state) => {
            setEtag(call, state);
            return presentOne(document, call);
          });
        const row = store.find(table, call.caller.accountId, call.params['id'] ?? '');
        return whenReady(row, (document) => show(found(document, call)));
      },
    }),
    operation({
      tag,
      rights: rights.write,
      method: 'PATCH',
      path: one,
      operationId: `${name}Update`,
      summary: `Update ${noun}`,
      description: 'A field that is absent keeps its value.',
      body: crud.updateBody,
      fieldErrors,
      status: 200,
      response: view,
      accepts: ['IfMatch', ...lockout('update')],
      errors: [notFoundError, preconditionFailed, ...errors.update],
      handle: async (call) => {
        const [document, state] = await store.write(call.actor, async (tx) => {
          const updated = await crud.update(tx, call, await findForWrite(tx, call));
          return [updated, await stateOf(tx, updated)] as const;
        });
        setEtag(call, state);
        return presentOne(document, call);
      },
    }),
    operation({
      tag,
      rights: rights.write,
      method: 'DELETE',
      path: one,
      operationId: `${name}Delete`,
      summary: `Delete ${noun}`,
      status: 204,
      accepts: ['IfMatch', ...lockout('delete')],
      errors: [notFoundError, preconditionFailed, ...errors.delete],
      handle: (call) => store.write(call.actor, async (tx) => crud.remove(tx, call, await findForWrite(tx, call))),
    }),
  ];
}

function listOperation<Document extends Stored, Create extends TSchema, Update extends TSchema>(
  crud: Crud<Document, Create, Update>,
  listKey: string,
): Operation {
  const { store, table, path, plural, name } = crud;
  return operation({
    method: 'GET',
    path,
    operationId: `${name}List`,
    summary: `List ${plural}`,
    description: 'Newest first. The next page is reached through `next_page_uri`.',
    tag: crud.tag,
    rights: crud.rights.read,
    listedPrefix: table.prefix,
    status: 200,
    response: Type.Object(
      {
        [listKey]: Type.Array(crud.view, { description: 'The entries of this page, newest first.' }),
        uri: Type.String({ description: 'URI of the list resource.' }),
        next_page_uri: nullable('string', 'URI of the next page, or null when there is no next page.'),
      },
      { $id: `${name}Page` },
    ),
    errors: [],
    handle: (call) => {
      const { page, caller, uri } = call;
      const show = (documents: readonly Document[]) => {
        const shown = documents.slice(0, page.limit);
        const last = shown.at(-1);
        const hasNext = documents.length > page.limit && last !== undefined;
        return whenReady(presentMany(crud, shown, call), (entries) => ({
          [listKey]: entries,
          uri: uri(path),
          next_page_uri: hasNext ? uri(`${path}${nextPageQuery(last.id, page)}`) : null,
        }));
      };
      // One more than asked for shows whether there is a next page.
      return whenReady(store.page(table, caller.accountId, { ...page, limit: page.limit + 1 }), show);
    },
  });
}

function presentMany<Document>(
  presentation: Presentation<Document>,
  documents: readonly Document[],
  call: Call,
): Awaitable<readonly object[]> {
  if (presentation.presentAll !== undefined) return presentation.presentAll(documents, call);
  return documents.map((document) => presentation.present(document, call));
}

/** A type or null, in the form that serializes fastest. */
export function nullable(type: 'string' | 'array', description: string, items?: TSchema) {
  return Type.Unsafe<string | null>({ type: [type, 'null'], description, ...(items === undefined ? {} : { items }) });
}
