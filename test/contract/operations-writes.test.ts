import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';

import { findHostedPath } from '../../src/api/http/hosted-paths.ts';
import type { Answer } from '../support/gatehouse.ts';
import { someOf } from '../support/sample.ts';
import type { Account, Prepared } from './support/account.ts';
import { inAnyWorld, inWorlds } from './support/in-worlds.ts';
import { forEach, isChosen, operations, operationsOfEachModuleOnce, resolveSchema } from './support/operations.ts';
import type { ApiOperation } from './support/operations.ts';
import { refusedCalls } from './support/refused-calls.ts';
import type { LoggedChange } from './support/world.ts';

/** They ask or tell somebody something, or take away what nothing has here, and leave the configuration as it is. */
const unlogged: ReadonlySet<string> = new Set([
  'EventDestinationsResend',
  'EventDestinationsTest',
  'EventSourcesUpdate',
  'InspectionsCreate',
  'InspectionsDelete',
  'InspectionsReplay',
  'IpCheck',
  'RehearsalsCreate',
  'TrafficPolicyCheck',
  'ReservedDomainsDeleteCertificateManagementPolicy',
  'TunnelSessionsRestart',
  'TunnelSessionsStop',
  'TunnelSessionsUpdate',
]);
/** They write a document of their own, which the path names by something else than its id. */
const ofOwnDocument: ReadonlySet<string> = new Set([
  'EventSourcesCreate',
  'ChangesRevert',
  'ConfigurationReturn',
  'IpRestrictionDecisionsReplace',
  'IpRestrictionDecisionsDelete',
]);
/** They write several documents at once. */
const ofSeveral: ReadonlySet<string> = new Set(['ConfigurationApply']);
/** Deletes a module that is not offered, so that there is nothing to write. */
const isOfNothing = ({ path }: ApiOperation) => findHostedPath(path.replaceAll(/\{\w+\}/g, 'id')) !== undefined;
const writes = operations.filter(
  (operation) => operation.method !== 'GET' && !unlogged.has(operation.id) && !isOfNothing(operation),
);
const reads = operations.filter((operation) => !writes.includes(operation));

interface Written {
  readonly caller: Account;
  readonly prepared: Prepared;
  readonly answer: Answer;
  /** Versions that it took. */
  readonly versions: number;
  readonly changes: readonly LoggedChange[];
  /** Answer to the next read; undefined where there is nothing to be read. */
  readonly read: Answer | undefined;
}

inWorlds('every write', (world) => {
  const made = new Map<ApiOperation, Promise<Written>>();

  /** Carries out a write once, for all tests that look at it; every other one in the other account. */
  function written(operation: ApiOperation, at: number): Promise<Written> {
    const { own, foreign } = world();
    const write = made.get(operation) ?? writeOnce(at % 2 === 0 ? own : foreign, operation);
    made.set(operation, write);
    return write;
  }

  async function writeOnce(caller: Account, operation: ApiOperation): Promise<Written> {
    const prepared = await caller.prepare(operation);
    const version = await world().version();
    const answer = await caller.call(operation, prepared);
    const versions = (await world().version()) - version;
    const changes = await world().changesOf(version + 1);
    const read = operation.method === 'DELETE' ? undefined : await readBack(caller, operation, prepared, answer);
    return { caller, prepared, answer, versions, changes, read };
  }

  test('moves the version by one and is written down in the change log, without secrets', async () => {
    const kinds = new Map<string, string>();
    await forEach(writes, async (operation, at) => {
      const { caller, prepared, answer, versions, changes } = await written(operation, at);
      assert.equal(answer.status, operation.successStatus, answer.text);
      assert.equal(versions, 1, 'the version');
      for (const { actor, operationId } of changes) {
        assert.deepEqual([actor, operationId], [caller.principalId, answer.headers.get('gatehouse-operation-id')]);
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
    const { own, foreign } = world();
    const accountIds = new Map([
      [own, await accountIdOf(own)],
      [foreign, await accountIdOf(foreign)],
    ]);
    assert.equal(new Set(accountIds.values()).size, 2);
    await forEach(writes, async (operation, at) => {
      const { caller, changes } = await written(operation, at);
      assert.deepEqual(new Set(changes.map(({ accountId }) => accountId)), new Set([accountIds.get(caller)]));
    });

    async function accountIdOf({ principalId }: Account): Promise<string> {
      const rows = await world().gatehouse.app.context.store.queries.all('SELECT account_id FROM users WHERE id = $1', [
        principalId,
      ]);
      return String(rows[0]?.[0]);
    }
  });

  test('is seen by the next read', async () => {
    await forEach(writes, async (operation, at) => {
      const { answer, read } = await written(operation, at);
      // A list that is replaced as a whole is read by pages; tests of its own hold what they show.
      if (read === undefined || 'next_page_uri' in read.body) return;
      // Only the response to the creation has the token or the link.
      const secret = ['token', 'link'].find((field) => field in answer.body);
      assert.deepEqual(read.body, secret === undefined ? answer.body : { ...answer.body, [secret]: null });
    });
  });

  test('that is refused changes nothing at all', async () => {
    const { own } = world();
    const once = writes.filter((operation) => operationsOfEachModuleOnce.includes(operation));
    const preparedFor = await own.prepareUnchanged(once.filter(isChosen));
    await world().unchanged(() =>
      forEach(once, async (operation) => {
        const prepared = preparedFor(operation);
        const calls = refusedCalls(operation, prepared);
        // Almost all are refused before the database is asked: each is tried on SQLite.
        for (const { what, path = prepared.path, body = prepared.body, options } of world().isPostgres
          ? someOf(calls, 6, 'refused calls', operation.id)
          : calls) {
          const { status, text } = await own.call(operation, { path, body }, options);
          assert.ok(status >= 400 && status < 500, `${what} was answered ${status}: ${text}`);
        }
      }),
    );
  });

  test('that sends no value changes nothing: no field, or null in every field', async () => {
    const { own } = world();
    const updates = writes.filter(({ method }) => method === 'PATCH');
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
});

// What it asks is asked on each database by others.
inAnyWorld('every read', (world) => {
  test('changes nothing', async () => {
    const { own } = world();
    const preparedFor = await own.prepareUnchanged(reads.filter(isChosen));
    // What is taken away last is there for the others.
    const isLast = ({ method }: ApiOperation): boolean => method === 'DELETE';
    await world().unchanged(async () => {
      for (const some of [reads.filter((each) => !isLast(each)), reads.filter(isLast)])
        await forEach(some, async (operation) => {
          const { status, text } = await own.call(operation, preparedFor(operation));
          assert.equal(status, operation.successStatus, text);
        });
    });
  });
});

/** Reads what a call has written, where an operation shows it. */
async function readBack(
  caller: Account,
  { method }: ApiOperation,
  prepared: Prepared,
  { body }: Answer,
): Promise<Answer | undefined> {
  const path = method === 'POST' ? `${prepared.path}/${body.id}` : prepared.path;
  const get = operations.find(
    (each) => each.method === 'GET' && new RegExp(`^${each.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path),
  );
  return get && caller.call(get, { path, body: undefined });
}

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
