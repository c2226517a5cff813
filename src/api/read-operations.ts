import { UserError } from '../errors/user-error.ts';
import type { Awaitable } from '../lib/awaitable.ts';
import { whenReady } from '../lib/awaitable.ts';
import type { Queries } from '../store/database.ts';
import type { Stored } from '../store/table.ts';
import type { Call } from './call.ts';
import { listOperation, presentMany } from './crud.ts';
import type { Listed } from './crud.ts';
import { notFound } from './errors.ts';
import { operation } from './operation.ts';
import type { Operation } from './operation.ts';
import { shownId } from './shown-id.ts';

/** A resource that the program itself writes, such as sessions. */
type Observed<Document extends Stored> = Listed<Document> & {
  /** As it stands in messages. */
  readonly noun: string;
  /** The key of the list in its envelope. */
  readonly listKey: string;
};

/** List and get, for resources that nobody creates through the API. */
export function readOperations<Document extends Stored>(observed: Observed<Document>): readonly Operation[] {
  const { store, table, path, name, noun, tag, rights, view } = observed;
  return [
    listOperation(observed, observed.listKey),
    operation({
      method: 'GET',
      path: `${path}/{id}`,
      operationId: `${name}Get`,
      summary: `Get ${noun}`,
      tag,
      rights: rights.read,
      status: 200,
      response: view,
      errors: [notFound],
      handle: (call) => {
        const row = store.find(table, call.caller.accountId, call.params['id'] ?? '');
        const show = (document: Document | undefined): Awaitable<object | undefined> =>
          whenReady(
            presentMany(observed, store.queries, [checkFound(observed, document, call)], call),
            ([shown]) => shown,
          );
        return whenReady(row, show);
      },
    }),
  ];
}

/** The document that the path names, or the error for one that is not there. */
export async function findObserved<Document extends Stored>(
  queries: Queries,
  observed: Pick<Observed<Document>, 'table' | 'noun' | 'isShown'>,
  call: Call,
): Promise<Document> {
  const found = await observed.table.find(queries, call.caller.accountId, call.params['id'] ?? '');
  return checkFound(observed, found, call);
}

function checkFound<Document extends Stored>(
  { table, noun, isShown }: Pick<Observed<Document>, 'table' | 'noun' | 'isShown'>,
  document: Document | undefined,
  { params }: Call,
): Document {
  if (document === undefined || isShown?.(document) === false)
    throw new UserError(notFound, { noun, id: shownId(params['id'], table.prefix) });
  return document;
}
