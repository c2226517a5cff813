import type { TSchema } from 'typebox';

import type { Call } from '../api/call.ts';
import type { TextFields } from '../api/body/text-fields.ts';
import type { ErrorDefinition } from '../errors/user-error.ts';
import type { Queries } from '../store/database.ts';
import type { Transaction } from '../store/write/transaction.ts';
import type { Page, Stored, Table } from '../store/table.ts';
import type { Earlier } from '../store/write/earlier-documents.ts';
import { serviceListKey } from './services.ts';

/**
 * The fields of one entry of a configuration, without its kind and name. In canonical form, fields with their default are
 * left out and other resources are named, so that two entries are equal if, and only if, they ask for the same.
 */
export type EntryFields = Readonly<Record<string, unknown>>;

/** Finds the id of a resource by its name; throws the `UserError` for a name that nothing has. */
export type IdOf = (scope: string, name: string) => string;
/** The name of a resource that exists. */
export type NameOf = (id: string) => string;

/** The name of a resource, among those of its scope. */
export interface EntryName {
  readonly scope: string;
  readonly name: string;
}

/** The resources of an account as they were at an earlier moment. */
export interface Past {
  /** Those of a kind, as the change log names it, that existed then, and are gone or have changed since: by id. */
  changed(kind: string): ReadonlyMap<string, Stored>;
  /** The same, by the text of a field, such as what they belong to. */
  changedOf(kind: string, field: string): ReadonlyMap<string, readonly Stored[]>;
  /** Those of today's that were the same then. */
  unchanged<Document extends Pick<Stored, 'id'>>(today: readonly Document[]): Promise<readonly Document[]>;
  readonly earlier: Earlier;
}

/** A write on behalf of one entry. */
export interface EntryWrite {
  readonly transaction: Transaction;
  /** The call, with options that let the lock-out guard wait until all entries are written. */
  readonly call: Call;
  readonly idOf: IdOf;
}

interface KindParts<Document extends Stored> {
  /** The section of a file, and the `kind` of an entry: `ip_policies`. */
  readonly kind: string;
  /** `IP policy`, as it stands in messages. */
  readonly noun: string;
  /** Kinds of one scope share their names: an edge names a backend, whichever kind it is of. */
  readonly scope: string;
  /** Kinds in the change log that change an entry of this kind. */
  readonly changeKinds: readonly string[];
  /** The schema of an entry, with `kind` and `name`; undefined for a kind that entries name and never declare. */
  readonly schema?: TSchema;
  /** Errors that its writes can meet. */
  readonly errors: readonly ErrorDefinition[];
  /** Resources that name others, or hold what others may want, are deleted before anything is created. */
  readonly isDeletedFirst?: boolean;
  /** Resources that others name, although the kinds of these stand before it. */
  readonly isCreatedFirst?: boolean;
  /** Set where its entries may name others of their own scope, and so have an order among themselves. */
  readonly namesItsScope?: boolean;
  /** Fields that are maps, and change entry by entry. */
  readonly maps?: readonly string[];
  /** Fields that are lists whose order means nothing. */
  readonly sets?: readonly string[];
  /** A text to make a name of, for a resource that has none yet. */
  suggestName(document: Document): string;
  /**
   * Entries in canonical form, in the order of the documents: a page of the account's, newest first, without gaps. Those of
   * the past may have any gaps.
   */
  describe(
    queries: Queries,
    documents: readonly Document[],
    nameOf: NameOf,
    past?: Past,
  ): Promise<readonly EntryFields[]>;
  /** Brings an entry that has passed its schema to canonical form. */
  accept(fields: EntryFields): Promise<EntryFields>;
  /** An entry as it is compared with the one before, and shown, where it may hold secrets. */
  compared?(fields: EntryFields, before: EntryFields | undefined): EntryFields;
  create(write: EntryWrite, fields: EntryFields): Promise<Document>;
  /** Makes the resource exactly what the entry says. */
  update(write: EntryWrite, document: Document, fields: EntryFields): Promise<void>;
  remove(write: EntryWrite, document: Document): Promise<void>;
  /** Set where its resources decide who may call the API: the lock-out guard looks at all of them together. */
  readonly decidesAccess?: boolean;
  /** The others that the entry names. */
  names?(fields: EntryFields): readonly EntryName[];
  /** Fields that no update changes. */
  readonly fixed?: readonly string[];
  /** True where an update cannot make the one of the other, although their fixed fields are the same. */
  isOther?(one: EntryFields, other: EntryFields): boolean;
  /** Host names, ports and the like that it has, or keeps, for itself or for those who share them. Empty fields have none. */
  claims?(fields: EntryFields): readonly string[];
  /** Claims of others, and ids (`claimOfId`), that it may need; a change or deletion that gives them up comes later. */
  dependsOn?(fields: EntryFields): Promise<readonly string[]>;
  /** Claims that a change leaves to others, if they are not just those that the new entry does not have. */
  leaves?(before: EntryFields, after: EntryFields): readonly string[];
  /** Leaves these claims to others; returns the document as it is then. */
  release?(write: EntryWrite, document: Document, fields: EntryFields): Promise<Document>;
}

export interface ConfigurationKind extends KindParts<Stored> {
  readonly prefix: string;
  /** The kind of its documents in the change log. */
  readonly loggedKind: string;
  /** A document of the change log, with what those of older releases do not have. */
  complete(document: Stored): Stored;
  page(queries: Queries, accountId: string, page: Page): Promise<readonly Stored[]>;
}

/** Drops the document's type for the list: each kind is only given documents of its own table. */
export function defineKind<Document extends Stored>(
  parts: KindParts<Document> & { readonly table: Table<Document> },
): ConfigurationKind {
  const { table, ...rest } = parts;
  return {
    ...rest,
    prefix: table.prefix,
    loggedKind: table.kind,
    // Documents of this kind are of its table.
    complete: (document) => table.complete(document as Document),
    page: (queries, accountId, page) => table.page(queries, accountId, page),
  };
}

/** Every kind of resource that a configuration holds, in the order in which they are created. */
export const configurationKinds = serviceListKey<ConfigurationKind>('kinds of configuration');

/** How a resource that is named by its id stands among claims. */
export function claimOfId(id: string): string {
  return `id ${id}`;
}

/** How a name that is reserved stands among claims, beside the name itself, which edges and endpoints claim too. */
export function claimOfReservation(hostname: string): string {
  return `reserved ${hostname}`;
}

/** The free texts of a document or entry, in canonical form. */
export function textsOf({ description = '', metadata = '' }: TextFields): TextFields {
  return { ...(description === '' ? {} : { description }), ...(metadata === '' ? {} : { metadata }) };
}

/** The free texts of an entry in the form of an update: `""` unsets. */
export function textsToSet({ description = '', metadata = '' }: TextFields): Required<TextFields> {
  return { description, metadata };
}
