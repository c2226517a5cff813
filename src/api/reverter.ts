import { isDeepStrictEqual } from 'node:util';

import type { TSchema } from 'typebox';

import { UserError } from '../errors/user-error.ts';
import type { ErrorDefinition } from '../errors/user-error.ts';
import type { Stored, Table } from '../store/table.ts';
import type { Transaction } from '../store/write/transaction.ts';
import type { Call } from './call.ts';
import { notReverted } from './errors.ts';

type Fields = Readonly<Record<string, unknown>>;

/** Effect of a change on one resource; null where it did not exist. */
export interface DocumentChange {
  readonly id: string;
  readonly before: Fields | null;
  readonly after: Fields | null;
  /** Changes beside it, in the form of its kind; null where the log does not have them, undefined where there were none. */
  readonly parts?: string | null | undefined;
}

/** Changes that a revert makes beside a resource. */
export interface RevertedParts {
  readonly before: object;
  readonly after: object;
}

/** Effect of a revert on one resource. */
export interface RevertedDocument {
  readonly before: object | null;
  readonly after: object | null;
}

/** Undoes changes of one kind, by the writes of single calls. */
export interface Reverter {
  /** As the change log names it. */
  readonly kind: string;
  /** Errors of the single calls. */
  readonly errors: readonly ErrorDefinition[];
  revert(transaction: Transaction, call: Call, change: DocumentChange): Promise<RevertedDocument>;
}

/** The parts of a resource that undo its changes. */
export interface Revertible<Document extends Stored> {
  readonly table: Table<Document>;
  readonly noun: string;
  readonly createBody: TSchema;
  readonly updateBody: TSchema;
  readonly errors: Readonly<Record<'create' | 'update' | 'delete', readonly ErrorDefinition[]>>;
  /** True: admins may choose the id of a new one. Never where an id is part of a token. */
  readonly takesNewId?: boolean;
  /** Why one that is gone cannot be made again, where that is not for its secret. */
  readonly whyGone?: string;
  /** Why one that was made is not deleted, and what to do instead, where no call deletes one. */
  readonly whyStays?: string;
  authorizeCreate?(transaction: Transaction, call: Call<never>): Promise<void>;
  create(transaction: Transaction, call: Call<never>): Promise<unknown>;
  update(transaction: Transaction, call: Call<never>, document: Document): Promise<Document>;
  remove(transaction: Transaction, call: Call, document: Document): Promise<void>;
  /** Words for what would be deleted with it and is in no change log. */
  hasParts?(transaction: Transaction, document: Document): Promise<string | undefined>;
  /** Undoes what cascading changes did beside the resource. */
  readonly parts?: {
    /** How many of them the log keeps, in words. */
    readonly limits: string;
    /** The resource is that of the path. */
    revert(transaction: Transaction, call: Call, parts: string): Promise<RevertedParts>;
  };
  /** Writes a document as it was, where its fields are not those of a body. `current` is undefined where it is gone. */
  restore?(transaction: Transaction, call: Call, wanted: Document, current: Document | undefined): Promise<Document>;
}

export function reverterOf<Document extends Stored>(resource: Revertible<Document>): Reverter {
  const { table, noun, whyGone = 'its secret is gone too' } = resource;
  const refuse = (reason: string) => new UserError(notReverted, { reason });
  return {
    kind: table.kind,
    errors: Object.values(resource.errors).flat(),
    async revert(transaction, call, { id, before, after, parts }) {
      const current = await table.find(transaction, call.caller.accountId, id);
      const own = { ...call, params: { id } };
      const revertParts = parts === undefined ? undefined : partsReverter(parts);
      if (before !== null && after === null) {
        if (resource.takesNewId !== true)
          throw refuse(`the ${noun} ${id} is gone and cannot be made again: ${whyGone}. Make a new one`);
        // In whatever account: another server's ids can be taken over.
        if ((await table.load(transaction, id)) !== undefined) throw refuse(`the ${noun} ${id} exists again`);
        const made = await recreate(resource, transaction, own, before);
        return { before: null, after: { ...made, ...(await revertParts?.(transaction, own))?.after } };
      }
      if (current === undefined) throw refuse(`the ${noun} ${id} is gone since`);
      if (revertParts !== undefined) {
        const reverted = await revertParts(transaction, own);
        // Fields that people know it by, though they stay as they are.
        const { description } = { description: undefined, ...current };
        const known = { id, ...(description === undefined ? {} : { description }) };
        return { before: { ...known, ...reverted.before }, after: { ...known, ...reverted.after } };
      }
      if (before === null) {
        if (resource.whyStays !== undefined) throw refuse(resource.whyStays);
        if (!isDeepStrictEqual(current, after))
          throw refuse(`the ${noun} ${id} has changed since. Delete it, if that is meant`);
        await removeAlone(transaction, own, current);
        return { before: current, after: null };
      }
      const wanted = withOld(current, before, after ?? {}, (field) =>
        refuse(`${field} of the ${noun} ${id} has changed since`),
      );
      return { before: current, after: await write(transaction, own, wanted, current) };
    },
  };

  function partsReverter(text: string | null): (transaction: Transaction, call: Call) => Promise<RevertedParts> {
    const { parts } = resource;
    if (text === null || parts === undefined)
      throw refuse(
        `the log does not hold what went with it${parts === undefined ? '' : ` (${parts.limits})`}. Restore it from a file or a backup`,
      );
    return (transaction, call) => parts.revert(transaction, call, text);
  }

  /** Others may have added to it since: what would be deleted with it is not what the change has made. */
  async function removeAlone(transaction: Transaction, call: Call, current: Document): Promise<void> {
    const { id } = current;
    const parts = await resource.hasParts?.(transaction, current);
    if (parts !== undefined) throw refuse(`the ${noun} ${id} has ${parts} since. Delete it, if that is meant`);
    const record: Transaction['record'] = (change) => {
      if (change.id !== id)
        throw refuse(`${change.id} would be deleted with the ${noun} ${id}. Delete it, if that is meant`);
      transaction.record(change);
    };
    await resource.remove({ ...transaction, record }, call, current);
  }

  async function write(transaction: Transaction, call: Call, wanted: Fields, current: Document): Promise<Document> {
    // The body has the fields of the document that it was made of.
    if (resource.restore !== undefined)
      return resource.restore(transaction, call, wanted as unknown as Document, current);
    const changed = fieldsOf(resource.updateBody).filter(
      (field) => !isDeepStrictEqual(wanted[field], valueOf(current, field)),
    );
    if (changed.length === 0)
      throw refuse(`nothing that it changed of the ${noun} ${current.id} can be set back by a call. It stays as it is`);
    // A text that was not there is unset by "".
    const body = Object.fromEntries(changed.map((field) => [field, wanted[field] ?? '']));
    const written = await resource.update(transaction, withBody(call, body), current);
    const kept = changed.find((field) => !isDeepStrictEqual(valueOf(written, field) ?? '', wanted[field] ?? ''));
    if (kept !== undefined) throw refuse(`${kept} of the ${noun} ${current.id} cannot be set back by a call`);
    return written;
  }
}

async function recreate<Document extends Stored>(
  resource: Revertible<Document>,
  transaction: Transaction,
  call: Call,
  before: Fields,
): Promise<object | null> {
  const id = call.params['id'] ?? '';
  // The log has it as the table has written it.
  if (resource.restore !== undefined)
    return resource.restore(transaction, call, before as unknown as Document, undefined);
  const given = fieldsOf(resource.createBody).flatMap((field) =>
    before[field] === undefined ? [] : [[field, before[field]]],
  );
  const body = withBody({ ...call, newId: id }, Object.fromEntries(given));
  await resource.authorizeCreate?.(transaction, body);
  await resource.create(transaction, body);
  return (await resource.table.load(transaction, id)) ?? null;
}

/** The document with the old values of what the change has changed, module by module; throws where one has changed since. */
function withOld(current: object, before: Fields, after: Fields, changedSince: (field: string) => Error): Fields {
  const [old, last, now] = [flatten(before), flatten(after), flatten({ ...current })];
  const wanted = new Map(now);
  for (const field of new Set([...old.keys(), ...last.keys()])) {
    if (bookkeeping.has(field) || isDeepStrictEqual(old.get(field), last.get(field))) continue;
    if (!isDeepStrictEqual(now.get(field), last.get(field))) throw changedSince(field.replace(modules, ''));
    if (old.has(field)) wanted.set(field, old.get(field));
    else wanted.delete(field);
  }
  const set = [...wanted].filter(([field]) => field.startsWith(modules));
  const rest = [...wanted].filter(([field]) => !field.startsWith(modules));
  const all = Object.fromEntries(set.map(([field, value]) => [field.slice(modules.length), value]));
  return { ...Object.fromEntries(rest), ...('modules' in current ? { modules: all } : {}) };
}

const modules = 'modules.';

/** Fields that every write sets, whatever it changes. */
const bookkeeping: ReadonlySet<string> = new Set(['updated_at', 'last_updated_by']);

function flatten(fields: Fields): Map<string, unknown> {
  return new Map(
    Object.entries(fields).flatMap(([field, value]): (readonly [string, unknown])[] =>
      field === 'modules' && typeof value === 'object' && value !== null
        ? Object.entries(value).map(([name, settings]) => [`${modules}${name}`, settings] as const)
        : [[field, value]],
    ),
  );
}

function fieldsOf(schema: TSchema): readonly string[] {
  const { properties = {} } = schema as { readonly properties?: object };
  return Object.keys(properties);
}

function valueOf(document: object, field: string): unknown {
  return new Map<string, unknown>(Object.entries(document)).get(field);
}

function withBody(call: Call, body: Fields): Call<never> {
  // Values that were stored have passed the schema of the body.
  return { ...call, body: body as never };
}
