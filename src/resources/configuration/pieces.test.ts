import assert from 'node:assert/strict';
import { test } from 'node:test';

import { defineKind } from '../configuration-kind.ts';
import { Table } from '../../store/table.ts';
import { piecesOf } from './pieces.ts';
import type { Step } from './plan.ts';

const none = async () => {};
/** Entries that have a place, which others share. */
const kind = defineKind({
  kind: 'guests',
  noun: 'guest',
  scope: 'guest',
  table: new Table({ name: 'guests', kind: 'guest', prefix: 'g' }),
  changeKinds: [],
  errors: [],
  suggestName: () => '',
  describe: async () => [],
  accept: async (fields) => fields,
  create: () => Promise.reject(new Error('nothing is carried out here')),
  update: none,
  remove: none,
  claims: ({ place }) => (typeof place === 'string' ? [place] : []),
});

function step(name: string, place: string): Step {
  return { action: 'create', kind, name, entry: undefined, fields: { place }, whole: { place }, changes: [] };
}

test('a piece has few of the places that steps share, in whichever order they are declared', async () => {
  const [places, guests] = [50, 100];
  const steps = Array.from({ length: places * guests }, (_, at) => step(`guest-${at}`, `place-${at % places}`));
  const pieces = await piecesOf(steps, () => false);
  for (const piece of pieces) {
    assert.ok(piece.length <= 2 * guests, `${piece.length} steps in one piece`);
    const taken = Map.groupBy(piece, ({ fields }) => fields['place']);
    for (const [place, all] of taken) assert.equal(all.length, guests, `${JSON.stringify(place)} is whole`);
  }
  assert.deepEqual(new Set(pieces.flat()), new Set(steps));
});
