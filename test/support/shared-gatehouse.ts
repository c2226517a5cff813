import { after, before, describe } from 'node:test';

import type { Flags } from '../../src/config/config.ts';
import { onEachDatabase } from './each-database.ts';
import { Gatehouse } from './gatehouse.ts';

/** Runs the suite once for each kind of database, with one Gatehouse for all its tests. */
export function onEachGatehouse(name: string, suite: (gatehouse: () => Gatehouse) => void, settings: Flags = {}): void {
  onEachDatabase(name, (_, newMigrated) => {
    // A suite of its own makes the Gatehouse stop before its database.
    describe('with one Gatehouse', () => {
      let gatehouse: Gatehouse | undefined;
      before(async () => {
        gatehouse = await Gatehouse.start(await newMigrated(), settings);
      });
      after(() => gatehouse?.[Symbol.asyncDispose]());
      suite(() => {
        if (gatehouse === undefined) throw new Error('the Gatehouse runs only while tests do');
        return gatehouse;
      });
    });
  });
}
