import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';

import { findHostedPath } from '../../src/api/http/hosted-paths.ts';
import type { Answer } from '../support/gatehouse.ts';
import type { Prepared } from './support/account.ts';
import { inWorlds } from './support/in-worlds.ts';
import { forEach, isChosen, operations, operationsInTurn, resolveSchema, someOf } from './support/operations.ts';
import type { ApiOperation } from './support/operations.ts';
import { refusedCalls } from './support/refused-calls.ts';
import type { LoggedChange } from './support/world.ts';

/** They ask or tell somebody something, or take away what nothing has here, and leave the configuration as it is. */
const unlogged: ReadonlySet<string> = new Set([
  'IpCheck',
  'ReservedDomainsDeleteCertificateManagementPolicy',
  'TunnelSessionsRestart',
  'TunnelSessionsStop',
  'TunnelSessionsUpdate',
]);
/** They write a document of their own, which the path names by something else than its id. */
const ofOwnDocument: ReadonlySet<string> = new Set([
  'ChangesRevert',
  'IpRestrictionDecisionsReplace',
  'IpRestrictionDecisionsDelete',
]);
/** They write several documents at once. */
const ofSeveral: ReadonlySet<string> = new Set(['ConfigurationApply']);
/** Deletes a module that is not offered, so that there is nothing to write. */
const isOfNothing = ({ path }: ApiOperation) => findHostedPath(path.replaceAll(/\{\w+\}/g, 'id')) !== undefined;
const writes = operationsInTurn.filter(
  (operation) => operation.method !== 'GET' && !unlogged.has(operation.id) && !isOfNothing(operation),
);
const reads = operationsInTurn.filter((operation) => !writes.includes(operation));

inWorlds('every write', (world) => {
  test('moves the version by one and is written down in the change log, without secrets', async () => {
    const kinds = new Map<string, string>();
    await forEach(world().share(writes), async (operation) => {
      const { own } = world();
      const prepared = await own.prepare(operation);
      const version = await world().version();
      const answer = await own.call(operation, prepared);
      assert.equal(answer.status, operation.successStatus, answer.text);
      assert.equal(await world().version(), version + 1, 'the version');
      const changes = await world().changesOf(version + 1);
      for (const { actor, operationId } of changes) {
        assert.deepEqual([actor, operationId], [own.principalId, answer.headers.get('gatehouse-operation-id')]);
      }
      if (ofOwnDocument.has(operation.id)) assert.equal(changes.length, 1);
      else if (ofSeveral.has(operation.id)) assert.ok(changes.length > 1);
      else checkChange(operation, changes, prepared, answer);
      for (const { resourceId, kind, before, after } of changes) {
        const [prefix = ''] = resourceId.split('_');
        assert.equal(kind, kinds.get(prefix) ?? kind, 'one kind of resource has one name in the log');
        kinds.set(prefix, kind);
        for (const secret of secretsOf(prepared, answer))
          assert.ok(!`${before}${after}`.includes(secret), 'a secret is in the log');
      }
    });
  });

  test('is in the log of its own account only', async () => {
    await forEach(world().share(writes), async (operation) => {
      const prepared = await world().foreign.prepare(operation);
      await world().foreign.call(operation, prepared);
      const accounts = new Set((await world().changesOf(await world().version())).map(({ accountId }) => accountId));
      assert.equal(accounts.size, 1);
      assert.ok(!accounts.has(await ownAccountId(world().own.principalId)));
    });

    async function ownAccountId(principalId: string): Promise<string> {
      const rows = await world().gatehouse.app.context.store.queries.all('SELECT account_id FROM users WHERE id = $1', [
        principalId,
      ]);
      return String(rows[0]?.[0]);
    }
  });

  test('that is refused changes nothing at all', async () => {
    const { own } = world();
    const chosen = world().share(writes);
    const preparedFor = await own.prepareUnchanged(chosen.filter(isChosen));
    await world().unchanged(() =>
      forEach(chosen, async (operation, at) => {
        const prepared = preparedFor(operation);
        const calls = refusedCalls(operation, prepared);
        // Almost all are refused before the database is asked.
        for (const { what, path = prepared.path, body = prepared.body, options } of world().isPostgres
          ? someOf(calls, at, 6)
          : calls) {
          const { status, text } = await own.call(operation, { path, body }, options);
          assert.ok(status >= 400 && status < 500, `${what} was answered ${status}: ${text}`);
        }
      }),
    );
  });

  test('that sends no value changes nothing: no field, or null in every field', async () => {
    const { own } = world();
    const updates = world().share(writes.filter(({ method }) => method === 'PATCH'));
    const preparedFor = await own.prepareUnchanged(updates.filter(isChosen));
    await world().unchanged(() =>
      forEach(updates, async (operation) => {
        const { path } = preparedFor(operation);
        const { properties = {} } = resolveSchema(operation.bodySchema ?? {});
        const nulls = Object.fromEntries(Object.keys(properties).map((name) => [name, null]));
        for (const body of [undefined, {}, nulls]) {
          const { status, text } = await own.call(operation, { path, body });
          assert.equal(status, 200, `${JSON.stringify(body)}: ${text}`);
        }
      }),
    );
  });

  test('is seen by the next read', async () => {
    await forEach(world().share(writes.filter(({ method }) => method !== 'DELETE')), async (operation) => {
      const { own } = world();
      const prepared = await own.prepare(operation);
      const { body } = await own.call(operation, prepared);
      const path = operation.method === 'POST' ? `${prepared.path}/${body.id}` : prepared.path;
      const get = operations.find(
        (each) => each.method === 'GET' && new RegExp(`^${each.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
      );
      if (get === undefined) return;
      const read = await own.call(get, { path, body: undefined });
      // A list that is replaced as a whole is read by pages; tests of its own hold what they show.
      if ('next_page_uri' in read.body) return;
      // Only the response to the creation has the token or the link.
      const secret = ['token', 'link'].find((field) => field in body);
      assert.deepEqual(read.body, secret === undefined ? body : { ...body, [secret]: null });
    });
  });
});

inWorlds('every read', (world) => {
  test('changes nothing', async () => {
    const { own } = world();
    const chosen = world().share(reads);
    const preparedFor = await own.prepareUnchanged(chosen.filter(isChosen));
    await world().unchanged(() =>
      forEach(chosen, async (operation) => {
        const { status, text } = await own.call(operation, preparedFor(operation));
        assert.equal(status, operation.successStatus, text);
      }),
    );
  });
});

/** Checks that the change log has an entry for the resource, with its state before and after. */
function checkChange(
  { method, path, successStatus }: ApiOperation,
  changes: readonly LoggedChange[],
  { ids }: Prepared,
  { body }: Answer,
): void {
  const isCreation = successStatus === 201;
  const id: unknown = isCreation ? body.id : ids.at(-1);
  const change = changes.find(({ resourceId }) => resourceId === id);
  assert.ok(change, `the log has no entry for ${String(id)}`);
  const { before, after } = change;
  const wasThere = !isCreation;
  const isThere = method !== 'DELETE' || !path.endsWith('}');
  assert.deepEqual([before !== null, after !== null], [wasThere, isThere], 'before and after');
  for (const text of [before, after]) if (text !== null) assert.equal(JSON.parse(text).id, id);
  assert.notEqual(before, after);
}

/** Returns secrets in the request and the response, which must not be stored readable. */
function secretsOf({ body }: Prepared, answer: Answer): readonly string[] {
  const token: unknown = answer.body?.token ?? answer.body?.link;
  const secret = typeof token === 'string' ? token.slice(token.lastIndexOf('_') + 1) : undefined;
  const key = /"private_key_pem":"[^"]*?BEGIN[^"]*?\\n([^"\\]{20,})/.exec(JSON.stringify(body ?? {}))?.[1];
  return [
    ...(secret === undefined ? [] : [secret, createHash('sha256').update(secret).digest('hex')]),
    ...(key === undefined ? [] : [key]),
  ];
}
