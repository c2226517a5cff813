import { createHash } from 'node:crypto';

import { Pace } from '../../lib/pace.ts';
import { readVersion } from '../../store/write/change-log.ts';
import type { Queries } from '../../store/database.ts';
import type { Stored } from '../../store/table.ts';
import type { ConfigurationKind, EntryFields } from '../configuration-kind.ts';
import { NameMaker } from './derive-names.ts';
import { readNames } from './names.ts';
import type { NamedResource } from './names.ts';
import { stablePieces } from './stable-text.ts';

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

/** Reads everything, in slices; the queries must be of one state of the database. */
export async function readState(
  queries: Queries,
  accountId: string,
  kinds: readonly ConfigurationKind[],
): Promise<State> {
  const version = await readVersion(queries);
  const pages = new Map<ConfigurationKind, readonly (readonly Stored[])[]>();
  for (const kind of kinds) pages.set(kind, await readPages(queries, accountId, kind));
  const names = nameAll(pages, await readNames(queries, accountId));
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
      const all = await kind.describe(queries, documents, nameOf);
      for (const [at, document] of documents.entries())
        described.push({ kind, name: nameOf(document.id), document, fields: all[at] ?? {} });
    }
    described.sort((a, b) => (a.name < b.name ? -1 : 1));
    entries.set(kind.kind, new Map(described.map((entry) => [entry.name, entry])));
  }
  return { version, entries, named: names.all, fresh: names.fresh, gone: names.gone };
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

function nameAll(
  pages: ReadonlyMap<ConfigurationKind, readonly (readonly Stored[])[]>,
  remembered: readonly NamedResource[],
) {
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
