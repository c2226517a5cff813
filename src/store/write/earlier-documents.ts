import { chunks } from '../../lib/chunks.ts';
import { Pace } from '../../lib/pace.ts';
import type { Queries, Value } from '../database.ts';

/** A resource as it was at an earlier version. */
export interface EarlierDocument {
  readonly kind: string;
  readonly id: string;
  /** JSON text. */
  readonly text: string;
  /** Where the change is that came first after that version. */
  readonly place: number;
}

/** How resources of an account were at an earlier version of the database, by what the log has of later changes. */
export interface Earlier {
  readonly version: number;
  /** Those that existed and have changed since, or are gone; by id. */
  readonly documents: ReadonlyMap<string, EarlierDocument>;
  /** Places of the first later changes of these documents: one that has a place and is not among those above was made since. */
  firstPlaces(ids: readonly string[]): Promise<ReadonlyMap<string, number>>;
}

/** A place in the log as one number: positions are fewer. */
const positions = 1_000_000;
export const earlierLimits = {
  /** Later changes that are read one by one; more are looked up by resource. */
  fewChanges: 2_000,
  /** Entries of an index that one statement looks at, in a few milliseconds on SQLite. */
  entriesAtOnce: 4_000,
  /** Resources that one statement leaps to. */
  resourcesAtOnce: 256,
  /** A slice with fewer resources than this has so many changes of each that leaping is cheaper than reading them all. */
  fewOfSlice: 200,
};
/** Statements of leaps before a slice tells again whether leaping pays. */
const mostLeaps = 16;
const idsAtOnce = 256;
const documentsAtOnce = 256;
const bytesAtOnce = 262_144;

const placeSql = `version * ${positions} + position`;
/** The change of parts alone names the resource, and does not have its document. */
const isOfParts = 'CASE WHEN sweeping = 1 AND after IS NOT NULL THEN 1 ELSE 0 END';
const sizeSql = 'CASE WHEN before IS NULL THEN -1 ELSE octet_length(before) END';
const found = `resource_id, kind, ${placeSql}, ${isOfParts}, ${sizeSql}`;

const recentSql = `SELECT ${found} FROM change_log WHERE account_id = $1 AND version > $2 ORDER BY version, position LIMIT $3`;
const inOrder = 'FROM change_log WHERE account_id = $1 AND (resource_id, version, position) > ($2, $3, $4)';
const byResource = 'ORDER BY resource_id, version, position';
const sliceEndSql = `SELECT resource_id, version ${inOrder} ${byResource} LIMIT 1 OFFSET $5`;
/** PostgreSQL reads the whole log where it does not know how few the rows of a slice are. */
const sliceSql = (entries: number) => `
  WITH slice AS MATERIALIZED (SELECT resource_id, version, position ${inOrder} ${byResource} LIMIT ${entries}),
  firsts AS (SELECT MIN(${placeSql}) AS place FROM slice WHERE version > $5 GROUP BY resource_id)
  SELECT ${found} FROM firsts JOIN change_log
  ON version = place / ${positions} AND position = place % ${positions} WHERE before IS NOT NULL`;
/** The next resources, and the first later change of each, by a few looks into the index for each of them. */
const leapSql = (count: number) => {
  const next = (after: string) =>
    `SELECT MIN(resource_id) FROM change_log WHERE account_id = $1 AND resource_id > ${after}`;
  return `
  WITH RECURSIVE ids (id, nth) AS (
    SELECT (${next('$2')}), 1 UNION ALL SELECT (${next('ids.id')}), nth + 1 FROM ids WHERE id IS NOT NULL AND nth < ${count}),
  firsts AS (SELECT id, (SELECT ${placeSql} FROM change_log WHERE account_id = $1 AND resource_id = ids.id AND version > $3
    ORDER BY version, position LIMIT 1) AS place FROM ids WHERE id IS NOT NULL)
  SELECT id, place, ${found} FROM firsts LEFT JOIN change_log
  ON version = place / ${positions} AND position = place % ${positions} ORDER BY id`;
};
const firstOfSql = `SELECT ${found} FROM change_log WHERE account_id = $1 AND resource_id = $2 AND version > $3 ORDER BY version, position LIMIT 1`;
const ofResourceSql =
  `SELECT ${found} FROM change_log WHERE account_id = $1 AND resource_id = $2 AND (version, position) > ($3, $4) ` +
  'ORDER BY version, position LIMIT 500';

/** The first later change of a resource. */
interface First {
  readonly id: string;
  readonly kind: string;
  readonly place: number;
  readonly isOfParts: boolean;
  /** Bytes of the document before it; negative where there was none. */
  readonly size: number;
}

interface Since {
  readonly accountId: string;
  readonly version: number;
  /** Kinds whose documents are wanted. */
  readonly kinds: ReadonlySet<string>;
}

/**
 * Reads the log in slices; the queries must be of one state of the database. A resource was as the first change since has it
 * before. Its cost grows with the resources that the log names, and hardly with how often each has changed.
 */
export async function readEarlier(queries: Queries, since: Since): Promise<Earlier> {
  const { accountId, version } = since;
  const { fewChanges } = earlierLimits;
  const recent = (await queries.all(recentSql, [accountId, version, fewChanges + 1])).map(toFirst);
  const isWhole = recent.length <= fewChanges;
  const pace = new Pace();
  const firsts = isWhole ? firstOfEach(recent) : await firstsByResource(queries, since, pace);
  const wanted: First[] = [];
  const unchanged = new Set<string>();
  for (const first of firsts) {
    if (!since.kinds.has(first.kind)) continue;
    const whole = first.isOfParts ? await nextOfDocument(queries, since, first, pace) : first;
    if (whole === undefined) unchanged.add(first.id);
    else if (whole.size >= 0) wanted.push(whole);
  }
  const documents = await readDocuments(queries, wanted, pace);
  const places = isWhole ? new Map(firsts.map(({ id, place }) => [id, place])) : undefined;
  return {
    version,
    documents,
    firstPlaces: async (ids) => {
      const asked = ids.filter((id) => !unchanged.has(id));
      const known = places ?? (await readPlaces(queries, since, asked, pace));
      return new Map(asked.flatMap((id) => (known.has(id) ? [[id, known.get(id) ?? 0] as const] : [])));
    },
  };
}

/** Of changes in their order. */
function firstOfEach(changes: readonly First[]): readonly First[] {
  const firsts = new Map<string, First>();
  for (const change of changes) if (!firsts.has(change.id)) firsts.set(change.id, change);
  return [...firsts.values()];
}

/**
 * Goes through the log by resource. Where most resources have few changes, all entries of the index are read in slices; where they
 * have many, it leaps from one resource to the next.
 */
async function firstsByResource(
  queries: Queries,
  { accountId, version }: Since,
  pace: Pace,
): Promise<readonly First[]> {
  const { entriesAtOnce, fewOfSlice, resourcesAtOnce } = earlierLimits;
  const firsts: First[] = [];
  let from: readonly [id: string, version: number, position: number] = ['', 0, 0];
  for (let leaps = 1; ;) {
    const [end] = await queries.all(sliceEndSql, [accountId, ...from, entriesAtOnce - 1]);
    const rows = await queries.all(sliceSql(entriesAtOnce), [accountId, ...from, version]);
    for (const row of rows) firsts.push(toFirst(row));
    if (end === undefined) return firsts;
    // What else the last resource of the slice has before the version, or behind its first change since, is passed over.
    const [last = '', lastVersion = 0] = end;
    const id = String(last);
    from = [id, Number(lastVersion) > version ? Number.MAX_SAFE_INTEGER : version, positions];
    if (pace.isDue) await pace.giveWay();
    if (rows.length >= fewOfSlice) {
      leaps = 1;
      continue;
    }
    if (Number(lastVersion) <= version) {
      const [row] = await queries.all(firstOfSql, [accountId, id, version]);
      if (row !== undefined) firsts.push(toFirst(row));
    }
    for (let leap = 0, after = id; leap < leaps; leap++) {
      const reached = await queries.all(leapSql(resourcesAtOnce), [accountId, after, version]);
      for (const [, place = null, ...columns] of reached) if (place !== null) firsts.push(toFirst(columns));
      if (reached.length < resourcesAtOnce) return firsts;
      after = String(reached.at(-1)?.[0]);
      from = [after, Number.MAX_SAFE_INTEGER, positions];
      if (pace.isDue) await pace.giveWay();
    }
    leaps = Math.min(leaps * 2, mostLeaps);
  }
}

/** The first later change of a resource that has its document; undefined where there is none, and it is as it was. */
async function nextOfDocument(
  queries: Queries,
  { accountId }: Since,
  first: First,
  pace: Pace,
): Promise<First | undefined> {
  for (let last = first; ;) {
    const from = [Math.floor(last.place / positions), last.place % positions];
    const changes = (await queries.all(ofResourceSql, [accountId, first.id, ...from])).map(toFirst);
    const next = changes.find(({ isOfParts: isOf }) => !isOf);
    const end = changes.at(-1);
    if (next !== undefined || end === undefined) return next;
    last = end;
    if (pace.isDue) await pace.giveWay();
  }
}

async function readDocuments(
  queries: Queries,
  wanted: readonly First[],
  pace: Pace,
): Promise<ReadonlyMap<string, EarlierDocument>> {
  const documents = new Map<string, EarlierDocument>();
  for (const some of bySize(wanted.toSorted((a, b) => a.place - b.place))) {
    const places = some.map((_, at) => `(CAST($${at * 2 + 1} AS BIGINT), CAST($${at * 2 + 2} AS BIGINT))`).join(', ');
    const sql = `SELECT resource_id, kind, before, ${placeSql} FROM change_log WHERE (version, position) IN (VALUES ${places})`;
    const values = some.flatMap(({ place }) => [Math.floor(place / positions), place % positions]);
    for (const [id, kind, text, place] of await queries.all(sql, values))
      documents.set(String(id), { id: String(id), kind: String(kind), text: String(text), place: Number(place) });
    if (pace.isDue) await pace.giveWay();
  }
  return documents;
}

/** Lists of a bounded number of bytes, unless one document has more; their lengths are few, as texts of statements are kept. */
function* bySize(wanted: readonly First[]): Iterable<readonly First[]> {
  for (let at = 0; at < wanted.length;) {
    let bytes = wanted[at]?.size ?? 0;
    let count = 1;
    while (count < documentsAtOnce) {
      const next = wanted.slice(at + count, at + count * 2);
      bytes += next.reduce((sum, { size }) => sum + size, 0);
      if (next.length < count || bytes > bytesAtOnce) break;
      count *= 2;
    }
    yield wanted.slice(at, at + count);
    at += count;
  }
}

async function readPlaces(
  queries: Queries,
  { accountId, version }: Since,
  ids: readonly string[],
  pace: Pace,
): Promise<ReadonlyMap<string, number>> {
  const places = new Map<string, number>();
  for (const some of chunks(ids, idsAtOnce)) {
    const given = some.map((_, at) => `(CAST($${at + 3} AS TEXT))`).join(', ');
    const first =
      `SELECT ${placeSql} FROM change_log WHERE account_id = $1 AND resource_id = given.id AND version > $2 ` +
      'ORDER BY version, position LIMIT 1';
    const sql = `WITH given (id) AS (VALUES ${given}) SELECT id, (${first}) FROM given`;
    for (const [id, place = null] of await queries.all(sql, [accountId, version, ...some]))
      if (place !== null) places.set(String(id), Number(place));
    if (pace.isDue) await pace.giveWay();
  }
  return places;
}

function toFirst([id, kind, place, ofParts, size]: readonly Value[]): First {
  return {
    id: String(id),
    kind: String(kind),
    place: Number(place),
    isOfParts: Number(ofParts) === 1,
    size: Number(size),
  };
}

/** A change of the parts of a resource, with what the log keeps of them; null where these are too many. */
interface PartsChange {
  readonly place: number;
  readonly version: number;
  readonly parts: string | null;
}

const partsSql =
  `SELECT ${placeSql}, version, sweeping, octet_length(parts) FROM change_log WHERE account_id = $1 AND resource_id = $2 ` +
  'AND (version, position) > ($3, $4) ORDER BY version, position LIMIT 500';
const onePartsSql = 'SELECT parts FROM change_log WHERE version = $1 AND position = $2';

/** Changes of the parts of a resource after a version, in their order. */
export async function* readParts(
  queries: Queries,
  accountId: string,
  id: string,
  version: number,
): AsyncGenerator<PartsChange> {
  const pace = new Pace();
  for (let last = version * positions + positions - 1; ;) {
    const rows = await queries.all(partsSql, [accountId, id, Math.floor(last / positions), last % positions]);
    for (const [place, ofVersion, sweeping, size = null] of rows) {
      last = Number(place);
      if (Number(sweeping) === 0) continue;
      const [row] = size === null ? [] : await queries.all(onePartsSql, [Number(ofVersion), last % positions]);
      yield { place: last, version: Number(ofVersion), parts: row === undefined ? null : String(row[0]) };
      if (pace.isDue) await pace.giveWay();
    }
    if (rows.length < 500) return;
  }
}
