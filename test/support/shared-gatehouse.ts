import { after, before, describe } from 'node:test';

import type { Flags } from '../../src/config/config.ts';
import { onAnyDatabase, onDatabasesInTurn, onEachDatabase } from './each-database.ts';
import { Gatehouse } from './gatehouse.ts';

type Suite = (gatehouse: () => Gatehouse) => void;

/** Runs a suite on each database, with one Gatehouse for all its tests: whatever guards access, money or data. */
export function onEachGatehouse(name: string, suite: Suite, settings: Flags = {}): void {
  onEachDatabase(name, (newDatabase) => {
    withOne(newDatabase, suite, settings);
  });
}

/** Runs a suite over SQL that other suites meet on each database too, with one Gatehouse for all its tests: on one database in a whole run. */
export function onGatehousesInTurn(name: string, suite: Suite, settings: Flags = {}): void {
  onDatabasesInTurn(name, (newDatabase) => {
    withOne(newDatabase, suite, settings);
  });
}

/** The same for a suite that does not depend on the kind of database. */
export function onAnyGatehouse(name: string, suite: Suite, settings: Flags = {}): void {
  onAnyDatabase(name, (newDatabase) => {
    withOne(newDatabase, suite, settings);
  });
}

function withOne(newDatabase: () => Promise<string>, suite: Suite, settings: Flags): void {
  // A suite of its own makes the Gatehouse stop before its database.
  describe('with one Gatehouse', () => {
    let gatehouse: Gatehouse | undefined;
    before(async () => {
      gatehouse = await Gatehouse.start(await newDatabase(), settings);
    });
    after(() => gatehouse?.[Symbol.asyncDispose]());
    suite(() => {
      if (gatehouse === undefined) throw new Error('the Gatehouse runs only while tests do');
      return gatehouse;
    });
  });
}
