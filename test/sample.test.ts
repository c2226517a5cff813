import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';

import { parts, ways } from './contract/support/fail-at-each.ts';
import { waysFor } from './contract/support/failing-operations.ts';
import { brokenTargets, hostileTexts } from './contract/support/hostile-texts.ts';
import { finiteOperations, onlyReads, operations, operationsOfEachModuleOnce } from './contract/support/operations.ts';
import { nameModel } from './support/migrated-database.ts';
import { decide, pick } from './support/sample.ts';

/** How often each combination occurs. */
function count(rows: readonly (readonly (string | number)[])[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const row of rows) counts.set(row.join(), (counts.get(row.join()) ?? 0) + 1);
  return counts;
}

/** Texts of the test files that can be planned. */
const texts = globSync('{src,client/src,test}/**/*.test.ts').map((file) => [file, readFileSync(file, 'utf8')] as const);
const databases = ['SQLite', 'PostgreSQL'] as const;

describe('a whole run', () => {
  test('decides the same wherever and whenever it runs', () => {
    const decided = ['quotas', 'lists', 'commands to agents'].map((name) => decide(1_000, ['database', name]));
    assert.deepEqual(decided, [356, 290, 506]);
    assert.deepEqual(pick(['a', 'b', 'c'], 2, ['letters', 'x']), pick(['a', 'b', 'c'], 2, ['letters', 'x']));
  });

  test('decides for a case without regard to others', () => {
    const rows = operations.map(({ id }) => [decide(2, ['database', id]), decide(2, ['workers', id])]);
    const counts = count(rows);
    for (const pair of ['0,0', '0,1', '1,0', '1,1'])
      assert.ok((counts.get(pair) ?? 0) > operations.length / 8, `${pair}: ${counts.get(pair)}`);
  });

  test('has suites of every part on each database', () => {
    const rows = texts.flatMap(([file, text]) =>
      [...text.matchAll(/on(?:Databases|Gatehouses)InTurn\(\s*['"`]([^'"`]+)/g)].map(([, name = '']) => {
        const [part = '', folder = ''] = file.split('/');
        return [`${part}/${folder}`, ...pick(databases, 1, ['database', name])];
      }),
    );
    const counts = count(rows);
    assert.ok(rows.length > 30, `only ${rows.length} suites were found`);
    for (const part of ['src/api', 'src/resources', 'test/e2e', 'test/contract'])
      for (const database of databases) assert.ok(counts.has(`${part},${database}`), `${part} on ${database}`);
  });

  test('has suites with one process and with several', () => {
    const chosen = texts.flatMap(([, text]) =>
      [...text.matchAll(/someOf\(\['\w+', '2'\], 1, 'workers', '([^']+)'\)/g)].map(([, name = '']) =>
        pick(['one', 'several'], 1, ['workers', name]).join(),
      ),
    );
    assert.deepEqual(new Set(chosen), new Set(['one', 'several']));
  });

  test('fails each statement of each write, and each kind of operation on each database in every way', () => {
    const rows = databases.flatMap((database) =>
      finiteOperations.flatMap((operation) => {
        const waysAt = waysFor(operation, database);
        const kind = onlyReads(operation) ? 'read' : operation.method;
        if (waysAt === undefined) return [];
        return parts.flatMap((part) =>
          [1, 2, 3, 4, 5, 6].flatMap((statement) =>
            waysAt(part, statement).map((way) => [database, kind, part, ...way.map(String)]),
          ),
        );
      }),
    );
    const counts = count(rows);
    for (const database of databases)
      for (const part of parts)
        for (const kind of ['POST', 'PATCH', 'PUT', 'DELETE', ...(part === 'own' ? ['read'] : [])])
          for (const way of ways)
            assert.ok(
              counts.has([database, kind, part, ...way].join()),
              `${database}, ${kind}, ${part}, ${way.join()}`,
            );
    const once = finiteOperations.filter((each) => operationsOfEachModuleOnce.includes(each));
    const writes = once.filter((each) => !onlyReads(each));
    const left = writes.filter((each) => waysFor(each, 'SQLite') === undefined);
    assert.deepEqual(left.map(({ id }) => id).toSorted(), ['TunnelSessionsRestart', 'TunnelSessionsStop']);
    for (const write of writes.filter((each) => !left.includes(each)))
      for (const part of ['own', 'commit'] as const)
        for (const statement of [1, 2, 3, 4, 5, 6])
          assert.ok((waysFor(write, 'SQLite')?.(part, statement).length ?? 0) > 0, `${write.id}: ${part} ${statement}`);
  });

  test('sends every hostile text to some operation', () => {
    const withBody = operations.filter(({ bodySchema }) => bodySchema !== undefined);
    const sent = withBody.flatMap(({ id }) => pick(hostileTexts, 3, ['hostile texts', id]));
    assert.equal(new Set(sent).size, new Set(hostileTexts).size);
    const places = operations.flatMap(({ id, params }) => params.map((_, at) => `${id} ${at}`));
    const broken = places.flatMap((place) => pick(brokenTargets, 2, ['broken targets', place]));
    assert.equal(new Set(broken).size, new Set(brokenTargets).size);
  });
});

test('a model database of other migrations has another name', () => {
  const files = new Map([['table.ts', 'CREATE TABLE a (b TEXT)']]);
  assert.notEqual(nameModel(files), nameModel(new Map([['table.ts', 'CREATE TABLE a (c TEXT)']])));
  assert.notEqual(nameModel(files), nameModel(new Map([['other.ts', 'CREATE TABLE a (b TEXT)']])));
  assert.equal(nameModel(files), nameModel(new Map(files)));
  assert.match(nameModel(), /^gatehouse_migrated_[0-9a-f]{20}$/);
});
