import assert from 'node:assert/strict';
import { test } from 'node:test';

import { moveCommand } from './move.ts';

test('a move to what is no database says how to write one', async () => {
  for (const to of ['mysql://h/db', 'gatehouse.db', 'sqlite:', 'postgres://', '']) {
    await assert.rejects(
      moveCommand.run({ url: 'sqlite:/nowhere/gatehouse.db', migrations: [] }, { to }),
      /write --to as sqlite:PATH or postgres:\/\/user:password@host\/database/,
    );
  }
});
