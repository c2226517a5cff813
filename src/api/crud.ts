import { Type } from 'typebox';
import type { Static, TSchema } from 'typebox';

import { quote, UserError } from '../errors/user-error.ts';
import type { ErrorCode } from '../errors/user-error.ts';
import type { Awaitable } from '../store/database.ts';
import type { Transaction } from '../store/group-commit.ts';
import type { Store } from '../store/store.ts';
import type { Stored, Table } from '../store/table.ts';
import type { Caller } from './caller.ts';
import { operation } from './operation.ts';
import type { Call, Fault, Operation } from './operation.ts';
import { nextPageQuery } from './query.ts';

/** A resource with the five usual operations. What is particular to it stands in its functions. */
interface Crud<Document extends Stored, Create extends TSchema, Update extends TSchema> {
  readonly store: Store;
  readonly table: Table<Document>;
  readonly path: string;
  /** `IP policy`, as it stands in messages. */
  readonly noun: string;
  /** `IpPolicies`, as operation ids start. */
  readonly name: string;
  readonly tag: string;
  /** The key of the list in its envelope; undefined where there is no list. */
  readonly listKey?: string;
  readonly view: TSchema;
  readonly createBody: Create;
  readonly updateBody: Update;
  readonly faults?: Readonly<Record<string, Fault>>;
  readonly permitWrite?: (caller: Caller) => void;
  readonly createExample?: unknown;
  readonly errors: Readonly<Record<'create' | 'update' | 'delete', readonly ErrorCode[]>>;
  /** For resources below another one: whether the document is below the one that the path names. */
  readonly belongs?: (document: Document, call: Call) => boolean;
  create(transaction: Transaction, call: Call<Static<Create>>): Promise<Document>;
  update(transaction: Transaction, call: Call<Static<Update>>, document: Document): Promise<Document>;
  remove(transaction: Transaction, call: Call, document: Document): Promise<void>;
  /** What an answer shows. */
  present(document: Document, call: Call): Awaitable<unknown>;
  /** For lists, where one query serves all. */
  presentAll?(documents: readonly Document[], call: Call): Awaitable<readonly unknown[]>;
}

export function crudOperations<Document extends Stored, Create extends TSchema, Update extends TSchema>(
  crud: Crud<Document, Create, Update>,
): readonly Operation[] {
  const { store, table, path, noun, name, tag, view, faults = {}, permitWrite, errors } = crud;
  const shared = { tag, ...(permitWrite === undefined ? {} : { permit: permitWrite }) };
  const one = `${path}/{id}`;
  const found = (document: Document | undefined, call: Call): Document => {
    if (document === undefined || crud.belongs?.(document, call) === false) {
      throw new UserError(222, { noun, id: quote(call.params['id']) });
    }
    return document;
  };
  const findForWrite = async (transaction: Transaction, call: Call) =>
    found(await table.find(transaction, call.caller.accountId, call.params['id'] ?? ''), call);
  return [
    operation({
      ...shared,
      method: 'POST',
      path,
      operationId: `${name}Create`,
      summary: `Create ${article(noun)} ${noun}`,
      body: crud.createBody,
      faults,
      status: 201,
      answer: view,
      example: crud.createExample,
      errors: errors.create,
      handle: async (call) => crud.present(await store.write(call.actor, (tx) => crud.create(tx, call)), call),
    }),
    ...(crud.listKey === undefined ? [] : [listOperation(crud, crud.listKey)]),
    operation({
      tag,
      method: 'GET',
      path: one,
      operationId: `${name}Get`,
      summary: `Get ${article(noun)} ${noun}`,
      status: 200,
      answer: view,
      errors: [222],
      handle: (call) => {
        const document = store.find(table, call.caller.accountId, call.params['id'] ?? '');
        if (document instanceof Promise) return document.then((row) => crud.present(found(row, call), call));
        return crud.present(found(document, call), call);
      },
    }),
    operation({
      ...shared,
      method: 'PATCH',
      path: one,
      operationId: `${name}Update`,
      summary: `Update ${article(noun)} ${noun}`,
      description: 'A field that is absent keeps its value.',
      body: crud.updateBody,
      faults,
      status: 200,
      answer: view,
      errors: [222, ...errors.update],
      handle: async (call) => {
        const document = await store.write(call.actor, async (tx) =>
          crud.update(tx, call, await findForWrite(tx, call)),
        );
        return crud.present(document, call);
      },
    }),
    operation({
      ...shared,
      method: 'DELETE',
      path: one,
      operationId: `${name}Delete`,
      summary: `Delete ${article(noun)} ${noun}`,
      status: 204,
      errors: [222, ...errors.delete],
      handle: (call) => store.write(call.actor, async (tx) => crud.remove(tx, call, await findForWrite(tx, call))),
    }),
  ];
}

function listOperation<Document extends Stored, Create extends TSchema, Update extends TSchema>(
  crud: Crud<Document, Create, Update>,
  listKey: string,
): Operation {
  const { store, table, path, noun, name } = crud;
  return operation({
    method: 'GET',
    path,
    operationId: `${name}List`,
    summary: `List ${noun === 'IP policy' ? 'IP policies' : `${noun}s`}`,
    description: 'Newest first. The next page is reached through `next_page_uri`.',
    tag: crud.tag,
    listedPrefix: table.prefix,
    status: 200,
    answer: Type.Object(
      {
        [listKey]: Type.Array(crud.view),
        uri: Type.String({ description: 'URI of the list resource.' }),
        next_page_uri: nullable('string', 'URI of the next page, or null when there is no next page.'),
      },
      { $id: `${name}Page` },
    ),
    errors: [],
    handle: async (call) => {
      const { page, caller, uri } = call;
      // One more than asked for tells whether there is a next page.
      const documents = await table.page(store.queries, caller.accountId, { ...page, limit: page.limit + 1 });
      const shown = documents.slice(0, page.limit);
      const last = shown.at(-1);
      const hasNext = documents.length > page.limit && last !== undefined;
      const entries = crud.presentAll
        ? await crud.presentAll(shown, call)
        : await Promise.all(shown.map((document) => crud.present(document, call)));
      return {
        [listKey]: entries,
        uri: uri(path),
        next_page_uri: hasNext ? uri(`${path}${nextPageQuery(last.id, page)}`) : null,
      };
    },
  });
}

/** A type or null, in the form that serializes fastest. */
export function nullable(type: 'string' | 'array', description: string, items?: TSchema) {
  return Type.Unsafe<string | null>({ type: [type, 'null'], description, ...(items === undefined ? {} : { items }) });
}

function article(noun: string): string {
  return /^(?:[AEIO]|HTTPS)/.test(noun) ? 'an' : 'a';
}
