import assert from 'node:assert/strict';

import { ruleSets } from '../../../src/resources/ip-policy-rules/service.ts';
import { until } from '../../e2e/gateway/support/until.ts';
import { failAt } from '../../support/database-faults.ts';
import type { Fault } from '../../support/database-faults.ts';
import type { Prepared } from './account.ts';
import { findOperation } from './operations.ts';
import type { ApiOperation } from './operations.ts';
import type { World } from './world.ts';

/** The effect of a call, as far as it is the same for every call of its operation. */
interface Effect {
  readonly versions: number;
  /** Rows that came and went, by table. */
  readonly rows: string;
  /** Status of reading what the call is about. */
  readonly shown: number | undefined;
}

/** A way in which statements fail: how, and whether all later ones do as well. */
export type Way = readonly [fault: Fault, isOutage: boolean];

export const ways: readonly Way[] = [
  ['lost', false],
  ['lost', true],
  ['unanswered', false],
];

/** Parts of a call's statements: the operation's own, those that the store has for every write alike, and the COMMIT. */
export const parts = ['own', 'store', 'commit'] as const;
export type Part = (typeof parts)[number];

const ofStore =
  /^(BEGIN|SAVEPOINT|RELEASE|ROLLBACK|INSERT INTO change_log\b|UPDATE store_version|SELECT (s\.)?version, (s\.)?mark\b)/;

function partOf(sql: string): Part {
  if (/(^|; )COMMIT$/.test(sql)) return 'commit';
  return ofStore.test(sql) ? 'store' : 'own';
}

/** Content of the database while nothing is under way. */
interface Settled {
  readonly version: number;
  readonly content: string;
}

/**
 * Makes the call once without a fault, then with faults at the statements of each part, counted from 1, in the ways that
 * `waysAt` gives. Each call is carried out as a whole, or not at all. Returns the number of faults.
 */
export async function failAtEach(
  world: World,
  operation: ApiOperation,
  waysAt: (part: Part, statement: number) => readonly Way[],
): Promise<number> {
  const { own } = world;
  const usual = await failOnce(world, operation, await own.prepare(operation), undefined);
  assert.equal(usual.status, operation.successStatus, usual.text);
  const planned = parts.flatMap((part) => {
    const count = usual.met.filter((sql) => partOf(sql) === part).length;
    const statements = Array.from({ length: count }, (_, at) => at + 1);
    return statements.flatMap((statement) => waysAt(part, statement).map((way): Planned => ({ part, statement, way })));
  });
  let prepared = await own.prepare(operation);
  let before: Settled | undefined;
  for (const fault of planned) {
    const { effect, failed, status, text, after } = await failOnce(world, operation, prepared, fault, before);
    const where = `${fault.part} statement ${fault.statement}, ${fault.way.join()}, ${failed}: ${status} ${text}`;
    if (status !== 503) assert.equal(status, operation.successStatus, where);
    before = after;
    if (effect === undefined && status === 503) continue;
    assert.deepEqual(effect, usual.effect, where);
    // The next call needs things of its own.
    prepared = await own.prepare(operation);
    before = undefined;
  }
  return planned.length;
}

interface Planned {
  readonly part: Part;
  readonly statement: number;
  readonly way: Way;
}

async function failOnce(
  world: World,
  operation: ApiOperation,
  prepared: Prepared,
  planned: Planned | undefined,
  known?: Settled,
) {
  const before = known ?? (await settled(world));
  const faults =
    planned === undefined
      ? failAt(Infinity, 'lost', false)
      : failAt(planned.statement, ...planned.way, { counts: (sql) => partOf(sql) === planned.part });
  const { status, text } = await world.own.call(operation, prepared).finally(() => faults.end());
  await recovered(world);
  const after = await settled(world);
  const versions = after.version - before.version;
  const rows = compareRows(before.content, after.content);
  const isCarriedOut = versions > 0 || rows !== '';
  const effect = (): Promise<Effect> =>
    readAgain(world, operation, prepared).then((shown) => ({ versions, rows, shown }));
  return {
    status,
    text,
    met: faults.met,
    failed: faults.failed[0],
    effect: isCarriedOut ? await effect() : undefined,
    after,
  };
}

/** Waits until the process has found its way back to the database. */
export async function recovered({ own: { gatehouse, token } }: World): Promise<void> {
  const isBack = async () => (await gatehouse.get('/ip_policies?limit=1', { token })).status === 200;
  await until(isBack, 'it recovers');
}

/** Waits until the process knows of the last change, and nothing is left to be deleted in the background. */
async function settled(world: World): Promise<Settled> {
  const { store, services } = world.gatehouse.app.context;
  await until(async () => store.version === (await world.version()), 'the last change is known');
  await until(async () => {
    services.get(ruleSets).look();
    return (await store.queries.all('SELECT set_id FROM ip_policy_rule_sets')).length === 0;
  }, 'rules that are in force no longer are deleted');
  const { version } = store;
  const content = await world.content();
  // A write whose answer was lost may have been committed meanwhile.
  return version === (await world.version()) ? { version, content } : settled(world);
}

async function readAgain(
  { own }: World,
  { path: template }: ApiOperation,
  { path }: Prepared,
): Promise<number | undefined> {
  const read = findOperation('GET', template);
  return read && (await own.call(read, { path, body: undefined })).status;
}

/** Returns `table +added -removed` for each table that differs. */
function compareRows(before: string, after: string): string {
  if (before === after) return '';
  const [old, fresh] = [rowsOf(before), rowsOf(after)];
  const missing = (rows: ReadonlySet<string> = new Set(), from: ReadonlySet<string> = new Set()) =>
    [...rows].filter((row) => !from.has(row)).length;
  return [...fresh.keys()]
    .map(
      (table) => [table, missing(fresh.get(table), old.get(table)), missing(old.get(table), fresh.get(table))] as const,
    )
    .filter(([, added, removed]) => added + removed > 0)
    .map(([table, added, removed]) => `${table} +${added} -${removed}`)
    .join('\n');
}

/** Rows of each table, as `World.content` writes them: JSON arrays below the name of their table. */
function rowsOf(content: string): ReadonlyMap<string, ReadonlySet<string>> {
  const tables = new Map<string, Set<string>>();
  let rows = new Set<string>();
  for (const line of content.split('\n')) {
    if (line.startsWith('[')) rows.add(line);
    else tables.set(line, (rows = new Set()));
  }
  return tables;
}
