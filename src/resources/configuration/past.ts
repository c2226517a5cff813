import { Pace } from '../../lib/pace.ts';
import type { Queries } from '../../store/database.ts';
import type { Stored } from '../../store/table.ts';
import { readEarlier } from '../../store/write/earlier-documents.ts';
import type { Earlier } from '../../store/write/earlier-documents.ts';
import type { ConfigurationKind, Past } from '../configuration-kind.ts';

/** Reads how the resources of configurations were at a version, by what has changed since. */
export async function readPast(
  queries: Queries,
  accountId: string,
  version: number,
  kinds: readonly Pick<ConfigurationKind, 'changeKinds'>[],
): Promise<Past> {
  const logged = new Set(kinds.flatMap(({ changeKinds }) => changeKinds));
  const earlier = await readEarlier(queries, { accountId, version, kinds: logged });
  const changed = await parse(earlier);
  const groups = new Map<string, ReadonlyMap<string, readonly Stored[]>>();
  const none: ReadonlyMap<string, Stored> = new Map();
  return {
    earlier,
    changed: (kind) => changed.get(kind) ?? none,
    changedOf(kind, field) {
      const key = `${kind} ${field}`;
      const known = groups.get(key);
      if (known !== undefined) return known;
      const own = [...(changed.get(kind) ?? none).values()];
      const group = Map.groupBy(own, (document) =>
        String(new Map<string, unknown>(Object.entries(document)).get(field)),
      );
      groups.set(key, group);
      return group;
    },
    async unchanged(today) {
      const rest = today.filter(({ id }) => !earlier.documents.has(id));
      const since = await earlier.firstPlaces(rest.map(({ id }) => id));
      return since.size === 0 ? rest : rest.filter(({ id }) => !since.has(id));
    },
  };
}

/** By kind and id; in slices, as there may be very many. */
async function parse({ documents }: Earlier): Promise<ReadonlyMap<string, ReadonlyMap<string, Stored>>> {
  const pace = new Pace();
  const parsed = new Map<string, Map<string, Stored>>();
  for (const { kind, id, text } of documents.values()) {
    const ofKind = parsed.get(kind) ?? new Map<string, Stored>();
    parsed.set(kind, ofKind);
    ofKind.set(id, JSON.parse(text));
    if (pace.isDue) await pace.giveWay();
  }
  return parsed;
}
