import { whenReady } from '../lib/awaitable.ts';
import type { Awaitable } from '../lib/awaitable.ts';
import type { Stored } from '../store/table.ts';
import type { Transaction } from '../store/write/transaction.ts';
import type { Rights } from './admission/rights.ts';
import type { Call } from './call.ts';
import { notFound } from './errors.ts';
import { commonFields } from './filter/fields.ts';
import { cutPage, filteredList } from './filter/filtered-list.ts';
import type { Shown } from './filter/filtered-list.ts';
import { readFilter } from './filter/read-filter.ts';
import { filterName } from './http/query.ts';
import { pageSchema, presentPage } from './list-page.ts';
import { operation } from './operation.ts';
import type { Operation } from './operation.ts';
import { checkFound, findNamed, presentMany, presentSingle } from './readable.ts';
import type { Listed, Named, Presentation } from './readable.ts';

/** A resource that the program itself writes, such as sessions. */
type Observed<Document extends Stored> = Listed<Document> &
  Presentation<Document> & {
    /** The key of the list in its envelope. */
    readonly listKey: string;
    /** How it is deleted, where a call may do that. */
    readonly remove?: {
      readonly description: string;
      readonly rights: Rights;
      /** Called before the transaction begins. */
      prepare(): Promise<void>;
      run(transaction: Transaction, document: Document): Promise<void>;
    };
  };

/** List and get, and delete where it may be: for resources that nobody creates through the API. */
export function readOperations<Document extends Stored>(observed: Observed<Document>): readonly Operation[] {
  const { store, path, name, noun, tag, remove } = observed;
  return [
    listOperation(observed, observed.listKey),
    getOperation(observed, (document, call) => presentSingle(observed, store.queries, document, call)),
    ...(remove === undefined
      ? []
      : [
          operation({
            method: 'DELETE',
            path: `${path}/{id}`,
            operationId: `${name}Delete`,
            summary: `Delete ${noun}`,
            description: remove.description,
            tag,
            rights: remove.rights,
            status: 204,
            errors: [notFound],
            handle: async (call) => {
              await remove.prepare();
              await store.write(call.actor, async (transaction) => {
                await remove.run(transaction, await findNamed(transaction, observed, call));
              });
            },
          }),
        ]),
  ];
}

/** The list, also for resources that nobody writes through the API. */
export function listOperation<Document extends Stored>(
  listed: Listed<Document> & Presentation<Document>,
  listKey: string,
): Operation {
  const { store, table, path, filterFields = commonFields, mayBeLarge = table.mayBeLong } = listed;
  return operation({
    mayBeLarge,
    method: 'GET',
    path,
    operationId: `${listed.name}List`,
    summary: `List ${listed.plural}`,
    description: 'Newest first. The next page is reached through `next_page_uri`.',
    tag: listed.tag,
    rights: listed.rights.read,
    listedPrefix: table.prefix,
    filterFields,
    status: 200,
    response: pageSchema(listed.name, listKey, listed.view),
    errors: [],
    handle: (call) => {
      const { page, filters, caller } = call;
      const show = ({ documents, nextBefore }: Shown<Document>) => {
        const shown = listed.isShown === undefined ? documents : documents.filter((each) => listed.isShown?.(each));
        const entries = presentMany(listed, store.queries, shown, call);
        return whenReady(entries, (all) => presentPage(call, path, listKey, all, nextBefore));
      };
      const condition = readFilter(filters[filterName], filterFields);
      if (condition !== undefined) return filteredList(store, table, call, condition).then(show);
      // One more than asked for shows whether there is a next page.
      const read = store.page(table, caller.accountId, { ...page, limit: page.limit + 1 });
      return whenReady(read, (documents) => show(cutPage(documents, page.limit)));
    },
  });
}

/** The operation that shows one document; `show` makes its answer. */
export function getOperation<Document extends Stored>(
  named: Named<Document>,
  show: (document: Document, call: Call) => Awaitable<object | undefined>,
): Operation {
  const { store, table, mayBeLarge = table.mayBeLong } = named;
  return operation({
    tag: named.tag,
    rights: named.rights.read,
    method: 'GET',
    path: `${named.path}/{id}`,
    operationId: `${named.name}Get`,
    summary: `Get ${named.noun}`,
    status: 200,
    response: named.view,
    mayBeLarge,
    errors: [named.notFoundError ?? notFound],
    handle: (call) => {
      const row = store.find(table, call.caller.accountId, call.params['id'] ?? '');
      return whenReady(row, (document) => show(checkFound(named, document, call), call));
    },
  });
}
