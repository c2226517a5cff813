import { after, before } from 'node:test';

import { onEachDatabase } from '../../support/each-database.ts';
import { World } from './world.ts';

/** Runs the suite on each database, over one world for all its tests. */
export function inWorlds(name: string, suite: (world: () => World) => void): void {
  onEachDatabase(name, (newDatabase) => {
    let world: World | undefined;
    before(async () => {
      world = await World.start(await newDatabase());
    });
    after(() => world?.[Symbol.asyncDispose]());
    suite(() => {
      if (world === undefined) throw new Error('the world has not started');
      return world;
    });
  });
}
