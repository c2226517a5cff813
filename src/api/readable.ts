import type { TSchema } from 'typebox';

import { UserError } from '../errors/user-error.ts';
import type { ErrorDefinition } from '../errors/user-error.ts';
import { ready, whenReady } from '../lib/awaitable.ts';
import type { Awaitable } from '../lib/awaitable.ts';
import type { Queries } from '../store/database.ts';
import type { Store } from '../store/store.ts';
import type { Stored, Table } from '../store/table.ts';
import type { Rights } from './admission/rights.ts';
import type { Call } from './call.ts';
import { notFound } from './errors.ts';
import type { FilterFields } from './filter/fields.ts';
import { shownId } from './shown-id.ts';

/** The views of documents in answers: exactly the fields of `view`. `presentAll` is for those that need a query. */
export type Presentation<Document> =
  | { present(document: Document, call: Call): object; readonly presentAll?: never }
  | {
      readonly present?: never;
      presentAll(queries: Queries, documents: readonly Document[], call: Call): Awaitable<readonly object[]>;
    };

/** The documents that a path with an id names. */
export interface Named<Document extends Stored> {
  readonly store: Store;
  readonly table: Table<Document>;
  readonly path: string;
  /** `IP policy`, as it stands in messages. */
  readonly noun: string;
  /** `IpPolicies`, as operation ids start. */
  readonly name: string;
  readonly tag: string;
  readonly rights: { readonly read: Rights };
  readonly view: TSchema;
  /** The error for an id that names none. */
  readonly notFoundError?: ErrorDefinition<'noun' | 'id'>;
  /** For resources below another one: whether the document is below the one that the path names. */
  readonly belongs?: (document: Document, call: Call) => boolean;
  /** False: the document is over, and only waits to be deleted. A page then has fewer entries than were asked for. */
  isShown?(document: Document): boolean;
  /** One may be shown with so much that answers are made in slices. */
  readonly mayBeLarge?: boolean;
}

/** The documents that a list shows. */
export interface Listed<Document extends Stored> extends Named<Document> {
  /** `IP policies`. */
  readonly plural: string;
  /** Fields that the list can be filtered by; those that most resources have by default. */
  readonly filterFields?: FilterFields;
}

type Findable<Document extends Stored> = Pick<
  Named<Document>,
  'table' | 'noun' | 'notFoundError' | 'belongs' | 'isShown'
>;

/** The document that the path names, or the error for one that is not there. */
export async function findNamed<Document extends Stored>(
  queries: Queries,
  findable: Findable<Document>,
  call: Call,
): Promise<Document> {
  const found = await findable.table.find(queries, call.caller.accountId, call.params['id'] ?? '');
  return checkFound(findable, found, call);
}

export function checkFound<Document extends Stored>(
  { table, noun, notFoundError = notFound, belongs, isShown }: Findable<Document>,
  document: Document | undefined,
  call: Call,
): Document {
  if (document === undefined || belongs?.(document, call) === false || isShown?.(document) === false)
    throw new UserError(notFoundError, { noun, id: shownId(call.params['id'], table.prefix) });
  return document;
}

export function presentSingle<Document>(
  presentation: Presentation<Document>,
  queries: Queries,
  document: Document,
  call: Call,
): Awaitable<object | undefined> {
  return whenReady(presentMany(presentation, queries, [document], call), ([shown]) => shown);
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
