import { after, before } from 'node:test';

import { onAnyDatabase, onEachDatabase } from '../../support/each-database.ts';
import { World } from './world.ts';

type Suite = (world: () => World) => void;

/** Runs the suite on each database, over one world for all its tests. */
export function inWorlds(name: string, suite: Suite): void {
  onEachDatabase(name, (newDatabase) => overOneWorld(newDatabase, suite));
}

/** Runs a suite that ends before the database is asked, or asks it nothing of its own: on SQLite, and in its long form on each. */
export function inAnyWorld(name: string, suite: Suite): void {
  onAnyDatabase(name, (newDatabase) => overOneWorld(newDatabase, suite));
}

function overOneWorld(newDatabase: () => Promise<string>, suite: Suite): void {
  let world: World | undefined;
  before(async () => {
    world = await World.start(await newDatabase());
  });
  after(() => world?.[Symbol.asyncDispose]());
  suite(() => {
    if (world === undefined) throw new Error('the world has not started');
    return world;
  });
}
