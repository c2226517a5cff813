import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';

import { onEachDatabase } from '../../../test/support/each-database.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { createAccount } from '../../../test/support/people.ts';
import type { Queries } from '../../store/database.ts';
import { momentLimits, readMoment } from './moment.ts';

const changes = 12_000;
const startMs = Date.parse('2026-01-01T00:00:00Z');

/** Every so many changes the clock had jumped ahead, or fallen back; for two whiles it was wrong at all. */
const ahead = 13;
const behind = 17;
const aheadFrom = 7_000;
const aheadUntil = 7_060;
const behindFrom = 5_235;
const behindUntil = 5_265;

const usual = { ...momentLimits };

afterEach(() => {
  Object.assign(momentLimits, usual);
});

function timeOf(number: number): string {
  return new Date(startMs + number * 60_000).toISOString().replace('.000', '');
}

onEachDatabase('a moment long ago', (newDatabase) => {
  test('is found by its time without all that came later, with wrong clocks along the way', async () => {
    Object.assign(momentLimits, { changesAtOnce: 200, mostAgainst: 100, changesBeforeLeap: 1_000, changesAsked: 51 });
    await using gatehouse = await Gatehouse.start(await newDatabase(), { role: 'api' });
    const accountId = await createAccount(gatehouse);
    const other = await createAccount(gatehouse);
    const { store } = gatehouse.app.context;
    const [[before] = []] = await store.queries.all('SELECT version FROM store_version');
    const first = Number(before) + 1;
    await store.writeUnlogged(async (writer) => {
      // Every third version is another account's.
      for (let number = 0; number < changes; number += 1_000) {
        const rows = Array.from({ length: 1_000 }, (_, each) => {
          const at = number + each;
          const owner = at % 3 === 0 ? other : accountId;
          return `(${first + at}, 0, '${clockAt(at)}', '${owner}', 'host', 'test', 'ip_policy', 'ipp_${at}', NULL, '{}', 0, 1)`;
        });
        await writer.run(
          `INSERT INTO change_log (version, position, at, account_id, actor, operation_id, kind, resource_id, before, after, sweeping, mark)
           VALUES ${rows.join(', ')}`,
        );
      }
      await writer.run('DELETE FROM change_log WHERE version < $1 AND version > 1', [first]);
      await writer.run(`UPDATE store_version SET version = ${first + changes - 1}`);
    });
    let [statements, rows] = [0, 0];
    const counted: Queries = {
      ...store.queries,
      async all(...args) {
        const found = await store.queries.all(...args);
        statements += 1;
        rows += found.length;
        return found;
      },
    };
    for (const wanted of [7_130, ...Array.from({ length: 23 }, (_, each) => 150 + each * 500)]) {
      const number = clearFrom(wanted);
      const time = timeOf(number);
      [statements, rows] = [0, 0];
      const { version } = await readMoment(counted, accountId, time);
      const last = lastBefore(number);
      assert.equal(version, first + last, time);
      assert.ok(rows < 4_000 && statements < 60, `${rows} rows by ${statements} statements for ${number}`);
    }
    const none = await readMoment(counted, accountId, '2025-12-31T00:00:00Z');
    assert.deepEqual([none.version < first + 2, none.created_at], [true, null]);
  });
});

function clockAt(number: number): string {
  if (number % ahead === 0 || (number >= aheadFrom && number < aheadUntil)) return '2099-01-01T00:00:00Z';
  const isBehind = number % behind === 0 || (number >= behindFrom && number < behindUntil);
  return isBehind ? '1970-01-01T00:00:00Z' : timeOf(number);
}

/** The next change beside which no clock was wrong: there, the times would not tell which of two it was. */
function clearFrom(wanted: number): number {
  const isClear = (number: number) => [-4, -3, -2, -1, 0, 1, 2, 3, 4].every((each) => isRight(number + each));
  let number = wanted;
  while (!isClear(number)) number += 1;
  return number;
}

function isRight(number: number): boolean {
  return clockAt(number) === timeOf(number);
}

/** The last change of the account up to this one. */
function lastBefore(number: number): number {
  return number % 3 === 0 ? number - 1 : number;
}
