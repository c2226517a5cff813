import { createHash } from 'node:crypto';

import { Pace } from '../../lib/pace.ts';
import { readVersion } from '../../store/write/change-log.ts';
import type { Queries } from '../../store/database.ts';
import type { Stored } from '../../store/table.ts';
import { sortInTurns } from '../../lib/sort-in-turns.ts';
import type { ConfigurationKind, EntryFields, Past } from '../configuration-kind.ts';
import { NameMaker } from './derive-names.ts';
import type { Moment } from './moment.ts';
import { readNames, readPastNames } from './names.ts';
import type { NamedResource } from './names.ts';
import { readPast } from './past.ts';
import { stablePieces } from '../stable-text.ts';

/** A resource as an entry of the configuration. */
export interface StateEntry {
  readonly kind: ConfigurationKind;
  readonly name: string;
  readonly document: Stored;
  readonly fields: EntryFields;
}

/** The configuration of an account, as one state of the database has it. */
export interface State {
  readonly version: number;
  /** By kind and name, both in order. */
  readonly entries: ReadonlyMap<string, ReadonlyMap<string, StateEntry>>;
  /** Every name that is in use, also of resources that no entry declares. */
  readonly named: readonly NamedResource[];
  /** Names that were made just now. */
  readonly fresh: readonly NamedResource[];
  /** Ids of resources that have a name, but are gone. */
  readonly gone: readonly string[];
}

/** Documents that are read at once. */
const pageSize = 256;

type Pages = ReadonlyMap<ConfigurationKind, readonly (readonly Stored[])[]>;

/** Reads everything, in slices; the queries must be of one state of the database. */
export async function readState(
  queries: Queries,
  accountId: string,
  kinds: readonly ConfigurationKind[],
): Promise<State> {
  const version = await readVersion(queries);
  const pages = new Map<ConfigurationKind, readonly (readonly Stored[])[]>();
  for (const kind of kinds) pages.set(kind, await readPages(queries, accountId, kind));
  return describeAll(queries, pages, { version, names: await readNames(queries, accountId) });
}

/** Reads everything as it was at a moment. Resources that are gone have the names that they had. */
export async function readPastState(
  queries: Queries,
  accountId: string,
  kinds: readonly ConfigurationKind[],
  { version }: Moment,
): Promise<State> {
  const past = await readPast(queries, accountId, version, kinds);
  const pages = new Map<ConfigurationKind, readonly (readonly Stored[])[]>();
  const ids = new Set<string>();
  for (const kind of kinds) {
    const then = await readPastPages(queries, accountId, kind, past);
    pages.set(kind, then);
    for (const page of then) for (const { id } of page) ids.add(id);
  }
  const names = await readPastNames(queries, accountId, version, ids);
  return describeAll(queries, pages, { version, names, past });
}

async function describeAll(
  queries: Queries,
  pages: Pages,
  {
    version,
    names: remembered,
    past,
  }: Pick<State, 'version'> & {
    readonly names: readonly NamedResource[];
    readonly past?: Past;
  },
): Promise<State> {
  const names = nameAll(pages, remembered);
  const nameOf = (id: string): string => {
    const name = names.byId.get(id);
    if (name === undefined) throw new Error(`${id} is named by another resource, and is not there`);
    return name;
  };
  const entries = new Map<string, ReadonlyMap<string, StateEntry>>();
  for (const [kind, ofKind] of pages) {
    if (kind.schema === undefined) continue;
    const described: StateEntry[] = [];
    for (const documents of ofKind) {
      const all = await kind.describe(queries, documents, nameOf, past);
      for (const [at, document] of documents.entries())
        described.push({ kind, name: nameOf(document.id), document, fields: all[at] ?? {} });
    }
    described.sort((a, b) => (a.name < b.name ? -1 : 1));
    entries.set(kind.kind, new Map(described.map((entry) => [entry.name, entry])));
  }
  return { version, entries, named: names.all, fresh: names.fresh, gone: names.gone };
}

/** In pages as today's, newest first. */
async function readPastPages(
  queries: Queries,
  accountId: string,
  kind: ConfigurationKind,
  past: Past,
): Promise<readonly (readonly Stored[])[]> {
  const then: Stored[] = [];
  for (const page of await readPages(queries, accountId, kind))
    for (const document of await past.unchanged(page)) then.push(document);
  for (const document of past.changed(kind.loggedKind).values()) then.push(kind.complete(document));
  const byId = new Map(then.map((document) => [document.id, document]));
  const ids = await sortInTurns([...byId.keys()]);
  // Every key was just put there.
  const inOrder = ids.toReversed().map((id) => byId.get(id)!);
  return Array.from({ length: Math.ceil(inOrder.length / pageSize) }, (_, at) =>
    inOrder.slice(at * pageSize, (at + 1) * pageSize),
  );
}

async function readPages(
  queries: Queries,
  accountId: string,
  kind: ConfigurationKind,
): Promise<readonly (readonly Stored[])[]> {
  const pace = new Pace();
  const pages: (readonly Stored[])[] = [];
  for (;;) {
    const page = await kind.page(queries, accountId, { beforeId: pages.at(-1)?.at(-1)?.id, limit: pageSize });
    pages.push(page);
    if (page.length < pageSize) return pages;
    if (pace.isDue) await pace.giveWay();
  }
}

function nameAll(pages: Pages, remembered: readonly NamedResource[]) {
  const byId = new Map(remembered.map(({ id, name }) => [id, name]));
  const unseen = new Set(byId.keys());
  for (const ofKind of pages.values()) for (const page of ofKind) for (const { id } of page) unseen.delete(id);
  const kept = remembered.filter(({ id }) => !unseen.has(id));
  const makers = new Map<string, NameMaker>();
  const fresh: NamedResource[] = [];
  for (const [kind, ofKind] of pages) {
    const { scope } = kind;
    const taken = kept.filter((each) => each.scope === scope).map(({ name }) => name);
    const maker = makers.get(scope) ?? new NameMaker(taken);
    makers.set(scope, maker);
    // Oldest first, so that a new resource does not take a name that an older one would have had.
    for (const document of ofKind.flat().toReversed()) {
      if (byId.has(document.id)) continue;
      const name = maker.make(kind.suggestName(document), scope.replaceAll('_', '-'));
      byId.set(document.id, name);
      fresh.push({ scope, name, id: document.id });
    }
  }
  return { byId, all: [...kept, ...fresh], fresh, gone: [...unseen] };
}

/** The value that the ETag of the configuration stands for. */
export async function digestOf({ entries }: State, isAbandoned: () => boolean): Promise<object> {
  const pace = new Pace(isAbandoned);
  const digest = createHash('sha256');
  for (const ofKind of entries.values()) {
    for (const { kind, name, fields } of ofKind.values()) {
      digest.update(`${kind.kind} ${name} `);
      for (const piece of stablePieces(fields)) {
        digest.update(piece);
        if (pace.isDue) await pace.giveWay();
      }
      digest.update('\n');
    }
  }
  return { digest: digest.digest('base64') };
}
