import { isDeepStrictEqual } from 'node:util';

import { Type } from 'typebox';
import type { Static, TSchema } from 'typebox';

import { quote, UserError } from '../errors/user-error.ts';
import type { ErrorDefinition } from '../errors/user-error.ts';
import { ready, whenReady } from '../lib/awaitable.ts';
import type { Awaitable } from '../lib/awaitable.ts';
import type { Queries } from '../store/database.ts';
import type { Transaction } from '../store/write/transaction.ts';
import type { Store } from '../store/store.ts';
import type { Stored, Table } from '../store/table.ts';
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
import { cutPage, filteredList } from './filter/filtered-list.ts';
import type { Shown } from './filter/filtered-list.ts';
import { commonFields } from './filter/fields.ts';
import type { FilterFields } from './filter/fields.ts';
import { readFilter } from './filter/read-filter.ts';
import { filterName, nextPageQuery } from './http/query.ts';
import type { Rights } from './admission/rights.ts';
import { propertiesOf } from './body/body.ts';
import { describeValue, whyNeverSet } from './body/validation.ts';
import { reverterOf } from './reverter.ts';
import type { Revertible } from './reverter.ts';
import { shownId } from './shown-id.ts';

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
  /** Fields that the list can be filtered by; those that most resources have by default. */
  readonly filterFields?: FilterFields;
  readonly view: TSchema;
  readonly createBody: Create;
  readonly updateBody: Update;
  readonly fieldErrors?: Readonly<Record<string, FieldError>>;
  /** Fields that belong elsewhere, with a sentence that says where. */
  readonly misplacedFields?: Readonly<Record<string, string>>;
  readonly errors: Readonly<Record<Verb, readonly ErrorDefinition[]>>;
  /** True: admins may choose the id of a new one. Never where an id is part of a token. */
  readonly takesNewId?: boolean;
  /** Writes that the lock-out guard checks; the caller can override it. */
  readonly guarded?: readonly Verb[];
  /** For resources below another one: whether the document is below the one that the path names. */
  readonly belongs?: (document: Document, call: Call) => boolean;
  /** Checks whether the caller may create this, also before the answer to an earlier call is repeated. */
  authorizeCreate?(transaction: Transaction, call: Call<Static<Create>>): Promise<void>;
  create(transaction: Transaction, call: Call<Static<Create>>): Promise<Document | Created<Document>>;
  update(transaction: Transaction, call: Call<Static<Update>>, document: Document): Promise<Document>;
  remove(transaction: Transaction, call: Call, document: Document): Promise<void>;
  /** What it has, in words, that would be deleted with it unrecorded. */
  hasParts?(transaction: Transaction, document: Document): Promise<string | undefined>;
  /** Why one that is gone cannot be made again, where that is not for its secret. */
  readonly whyGone?: string;
  /** Why one that was made is not deleted, where no call deletes one. */
  readonly whyStays?: string;
  /** Undoes what cascading changes did beside the resource. */
  readonly parts?: NonNullable<Revertible<Document>['parts']>;
  /** Writes a document as it was, where its fields are not those of a body. `current` is undefined where it is gone. */
  restore?(transaction: Transaction, call: Call, wanted: Document, current: Document | undefined): Promise<Document>;
  /** Called when a write is in force: sets headers, and answers fields that only then are known. */
  afterWrite?(document: Document, call: Call): object;
  /** Something that whoever sees the document should know; sent as a header with every answer that shows it alone. */
  warning?(queries: Queries, document: Document): Promise<string | undefined>;
  /** One may be shown with so much that answers are made in slices. */
  readonly mayBeLarge?: boolean;
  /** Fields that only the first answer to a creation shows. */
  readonly secretFields?: readonly string[];
  /** The state that an ETag stands for; the document itself by default. */
  etagState?(queries: Queries, document: Document): Promise<object>;
}

/** The views of documents in answers: exactly the fields of `view`. `presentAll` is for those that need a query. */
type Presentation<Document> =
  | { present(document: Document, call: Call): object; readonly presentAll?: never }
  | {
      readonly present?: never;
      presentAll(queries: Queries, documents: readonly Document[], call: Call): Awaitable<readonly object[]>;
    };

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
    mayBeLarge = false,
  } = crud;
  const one = `${path}/{id}`;
  const lockout = (verb: Verb): readonly OptionHeader[] =>
    crud.guarded?.includes(verb) === true ? ['AllowLockout'] : [];
  const found = (document: Document | undefined, call: Call): Document => {
    if (document === undefined || crud.belongs?.(document, call) === false) {
      throw new UserError(notFoundError, { noun, id: shownId(call.params['id'], table.prefix) });
    }
    return document;
  };
  const stateOf = (queries: Queries, document: Document): Awaitable<object> =>
    crud.etagState?.(queries, document) ?? ready(document);
  const presentSilently = (queries: Queries, document: Document, call: Call): Awaitable<object | undefined> =>
    whenReady(presentMany(crud, queries, [document], call), ([shown]) => shown);
  const presentOne = (queries: Queries, document: Document, call: Call): Awaitable<object | undefined> => {
    if (crud.warning === undefined) return presentSilently(queries, document, call);
    return crud.warning(queries, document).then((warning) => {
      if (warning !== undefined) call.setHeader('Gatehouse-Warning', warning);
      return presentSilently(queries, document, call);
    });
  };
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
      misplacedFields,
      status: 201,
      response: view,
      accepts: ['IdempotencyKey', ...lockout('create'), ...(takesNewId ? (['NewId'] as const) : [])],
      errors: [invalidIdempotencyKey, idempotencyKeyReused, ...(takesNewId ? newIdErrors : []), ...errors.create],
      handle: async (call) => {
        let written: Document | undefined;
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
        return written === undefined ? shown : { ...shown, ...crud.afterWrite?.(written, call) };
      },
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
      mayBeLarge,
      errors: [notFoundError],
      handle: (call) => {
        const show = (document: Document) =>
          whenReady(stateOf(store.queries, document), (state) => {
            setEtag(call, state);
            return presentOne(store.queries, document, call);
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
      takesReadOnly: true,
      fieldErrors,
      misplacedFields,
      status: 200,
      response: view,
      mayBeLarge,
      accepts: ['IfMatch', ...lockout('update')],
      errors: [notFoundError, preconditionFailed, readOnlyField, ...errors.update],
      handle: async (call) => {
        const [document, state] = await store.write(call.actor, async (tx) => {
          const previous = await findForWrite(tx, call);
          await checkReadOnly(call, crud, () => presentSilently(tx, previous, call));
          const updated = await crud.update(tx, call, previous);
          return [updated, await stateOf(tx, updated)] as const;
        });
        setEtag(call, state);
        crud.afterWrite?.(document, call);
        return presentOne(store.queries, document, call);
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
      reverter: reverterOf(crud),
      handle: (call) => store.write(call.actor, async (tx) => crud.remove(tx, call, await findForWrite(tx, call))),
    }),
  ];
}

/** The parts of a resource that its list needs. */
export type Listed<Document extends Stored> = Pick<
  CrudDefinition<Document, TSchema, TSchema>,
  'store' | 'table' | 'path' | 'plural' | 'name' | 'tag' | 'view' | 'filterFields' | 'mayBeLarge'
> & {
  readonly rights: { readonly read: Rights };
  /** False: the document is over, and only waits to be deleted. A page then has fewer entries than were asked for. */
  isShown?(document: Document): boolean;
} & Presentation<Document>;

/** The list alone, also for resources that nobody writes through the API. */
export function listOperation<Document extends Stored>(crud: Listed<Document>, listKey: string): Operation {
  const { store, table, path, plural, name, filterFields = commonFields, mayBeLarge = false } = crud;
  return operation({
    mayBeLarge,
    method: 'GET',
    path,
    operationId: `${name}List`,
    summary: `List ${plural}`,
    description: 'Newest first. The next page is reached through `next_page_uri`.',
    tag: crud.tag,
    rights: crud.rights.read,
    listedPrefix: table.prefix,
    filterFields,
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
      const { page, filters, caller, uri } = call;
      const show = ({ documents, nextBefore }: Shown<Document>) => {
        const shown = crud.isShown === undefined ? documents : documents.filter((each) => crud.isShown?.(each));
        return whenReady(presentMany(crud, store.queries, shown, call), (entries) => ({
          [listKey]: entries,
          uri: uri(path),
          next_page_uri: nextBefore === undefined ? null : uri(`${path}${nextPageQuery(nextBefore, page, filters)}`),
        }));
      };
      const condition = readFilter(filters[filterName], filterFields);
      if (condition !== undefined) return filteredList(store, table, call, condition).then(show);
      // One more than asked for shows whether there is a next page.
      const read = store.page(table, caller.accountId, { ...page, limit: page.limit + 1 });
      return whenReady(read, (documents) => show(cutPage(documents, page.limit)));
    },
  });
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

export function presentMany<Document>(
  presentation: Presentation<Document>,
  queries: Queries,
  documents: readonly Document[],
  call: Call,
): Awaitable<readonly object[]> {
  if (presentation.presentAll !== undefined) return presentation.presentAll(queries, documents, call);
  return ready(documents.map((document) => presentation.present(document, call)));
}

/** A type or null, in the form that serializes fastest. */
export function nullable(type: 'string' | 'array', description: string, items?: TSchema) {
  return Type.Unsafe<string | null>({ type: [type, 'null'], description, ...(items === undefined ? {} : { items }) });
}
