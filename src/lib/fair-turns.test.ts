import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'node:test';

import { FairTurns, TooMuchWaits } from './fair-turns.ts';

/** Work by name that ends when it is told to. */
class Works {
  readonly #turns: FairTurns;
  readonly running = new Map<string, () => void>();
  readonly outcomes: string[] = [];

  constructor(turns: FairTurns) {
    this.#turns = turns;
  }

  start(...names: readonly string[]): void {
    for (const name of names)
      void this.#turns
        .run(name.charAt(0), async () => {
          await new Promise<void>((end) => this.running.set(name, end));
          if (name.endsWith('!')) throw new Error('failed');
        })
        .catch((error: unknown) =>
          this.outcomes.push(`${name} ${error instanceof TooMuchWaits ? 'refused' : 'failed'}`),
        );
  }

  async names(): Promise<readonly string[]> {
    await nextTurn();
    return [...this.running.keys()];
  }

  async end(name: string): Promise<readonly string[]> {
    this.running.get(name)?.();
    this.running.delete(name);
    return this.names();
  }
}

test('so much runs at once, of each owner less, and owners take turns', async () => {
  const works = new Works(new FairTurns({ atOnce: 3, ofOwner: 2, waiting: 10 }));
  works.start('a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1');
  assert.deepEqual(await works.names(), ['a1', 'a2', 'b1']);
  assert.deepEqual(await works.end('a1'), ['a2', 'b1', 'b2']);
  assert.deepEqual(await works.end('a2'), ['b1', 'b2', 'c1']);
  assert.deepEqual(await works.end('c1'), ['b1', 'b2', 'a3']);
  assert.deepEqual(await works.end('b1'), ['b2', 'a3', 'a4']);
});

test('work that fails gives its place back, and what is too much for one owner is refused', async () => {
  const works = new Works(new FairTurns({ atOnce: Infinity, ofOwner: 1, waiting: 2 }));
  works.start('a1!', 'a2', 'a3', 'a4', 'b1');
  assert.deepEqual(await works.names(), ['a1!', 'b1']);
  assert.deepEqual(works.outcomes, ['a4 refused']);
  assert.deepEqual(await works.end('a1!'), ['b1', 'a2']);
  assert.deepEqual(works.outcomes, ['a4 refused', 'a1! failed']);
  assert.deepEqual(await works.end('a2'), ['b1', 'a3']);
  await works.end('a3');
  works.start('a5');
  assert.deepEqual(await works.names(), ['b1', 'a5']);
});
