import assert from 'node:assert/strict';
import { test } from 'node:test';

import { mostInOneTurn } from '../../../test/support/turns.ts';
import { jsonPieces } from '../../lib/json-pieces.ts';
import { mapInTurns } from '../../lib/map-in-turns.ts';
import { finishInTurns } from '../../lib/steps.ts';
import { diffFields } from './diff.ts';
import { stablePieces } from '../stable-text.ts';

const count = 50_000;
type Item = <T>(value: T) => T;

/** Fields of an edge, each of whose routes is an item when it is read. */
function edge(item: Item, backend: string) {
  const route = () => ({
    get backend() {
      return item({ backend });
    },
  });
  return { routes: Object.fromEntries(Array.from({ length: count }, (_, at) => [`/${at}`, route()])) };
}

const works: Readonly<Record<string, (item: Item) => Promise<unknown>>> = {
  'the text of an entry': (item) => mapInTurns(jsonPieces({ entries: [edge(item, 'a')] }), (piece) => piece),
  'the text that a digest is made of': (item) => mapInTurns(stablePieces(edge(item, 'a')), (piece) => piece),
  'the difference of two entries': (item) =>
    finishInTurns(diffFields({ maps: ['routes'] }, edge(item, 'a'), edge(item, 'b'))),
};

for (const [what, work] of Object.entries(works)) {
  test(`${what} with very many routes is made in slices`, async () => {
    const most = await mostInOneTurn(work);
    assert.ok(most > 0 && most < count / 4, `${most} routes in one turn`);
  });
}
