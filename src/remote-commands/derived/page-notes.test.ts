import assert from 'node:assert/strict';
import { test } from 'node:test';

import { remoteCommands } from '../../../test/support/command-host.ts';
import { decision } from '../../../test/support/decisions.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { createAccount, createUser } from '../../../test/support/people.ts';
import { newSqlite, scratchFolder } from '../../../test/support/scratch.ts';
import type { Decisions } from '../../decisions/decisions.ts';
import { keptDecisions } from '../../resources/decisions/service.ts';

async function list({ url, token }: Pick<Gatehouse, 'url' | 'token'>, ...flags: readonly string[]) {
  const commands = remoteCommands({ GATEHOUSE_URL: url, GATEHOUSE_TOKEN: token });
  const { code, out, errors } = await commands.end(['decisions', 'list', ...flags]);
  assert.equal(code, 0, errors);
  return { paths: JSON.parse(out).map(({ path }: { path: string }) => path), errors };
}

test('decisions list says that none are kept, and which setting keeps them', async () => {
  await using gatehouse = await Gatehouse.start(newSqlite());
  const { paths, errors } = await list(gatehouse);
  assert.deepEqual(paths, []);
  assert.match(
    errors,
    /^warning: No process that carries traffic keeps decisions about visitors\. .*GATEHOUSE_DECISIONS.*\n$/,
  );
});

test('decisions list says once, after all pages, what is missing: of other gateways, and what was dropped', async () => {
  const databaseUrl = newSqlite();
  await using gatehouse = await Gatehouse.start(databaseUrl, { decisions: scratchFolder() });
  const account = await createAccount(gatehouse);
  const person = { url: gatehouse.url, token: (await createUser(gatehouse, 'viewer', account)).token };
  // start/open-and-publish.ts provides the whole of it.
  const store = gatehouse.app.context.services.get(keptDecisions) as Decisions;
  const add = (path: string) => store.add(account, decision({ path }));
  const paths = Array.from({ length: 120 }, (_, at) => `/${at}`);
  for (const path of paths) add(path);
  const { paths: whole, errors } = await list(person);
  assert.deepEqual([whole, errors], [paths.toReversed(), '']);
  assert.deepEqual((await list(person, '--limit', '103')).paths, paths.toReversed().slice(0, 103));

  await using others = new AsyncDisposableStack();
  others.use(await Gatehouse.start(databaseUrl, { role: 'gateway', httpsListen: '127.0.0.1:0' }));
  assert.equal((await list(person)).errors, 'warning: decisions of 1 gateway are not among these\n');

  // More than may wait in one turn of the event loop.
  while (store.dropped(account) < 2) add(`/flood${'x'.repeat(500)}`);
  const last = await list(person, '--limit', '1');
  assert.equal(last.paths.length, 1);
  assert.equal(
    last.errors,
    `warning: decisions of 1 gateway are not among these\nwarning: 2 decisions of this account could not be kept since the gateways were started\n`,
  );
});
