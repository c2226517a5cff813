import assert from 'node:assert/strict';
import { test } from 'node:test';

import { newId } from '../../src/lib/ids.ts';
import { someOf } from '../support/sample.ts';
import type { Account } from './support/account.ts';
import { brokenTargets, hostileIds, hostileTexts } from './support/hostile-texts.ts';
import { inAnyWorld, inWorlds } from './support/in-worlds.ts';
import { isMadeOtherwise } from './support/account.ts';
import { findOperation, forEach, operations, operationsOfEachModuleOnce, resolveSchema } from './support/operations.ts';
import type { ApiOperation, Schema } from './support/operations.ts';
import { requestTarget, sendBytes } from './support/raw-http.ts';

/** Ids of changes are shorter, and those of decisions are numbers. */
const idForm = /[a-z]+_(?:[0-9A-Za-z]{21,27}|\d{17})/g;
const hasIds = ({ params }: ApiOperation) => params.length > 0;
const hasBody = ({ bodySchema }: ApiOperation) => bodySchema !== undefined;

inWorlds("another account's ids", (world) => {
  test('in the path are answered exactly as if they did not exist', async () => {
    const { own, foreign } = world();
    const chosen = operations.filter(hasIds);
    const theirs = await foreign.prepareUnchanged(chosen);
    const ours = await own.prepareUnchanged(chosen);
    // Fills the caches.
    for (const read of chosen.filter(({ method }) => method === 'GET')) await foreign.call(read, theirs(read));
    await world().unchanged(() =>
      forEach(chosen, async (operation) => {
        const { ids, body } = ours(operation);
        for (const positions of subsets(operation.params.length)) {
          const call = (strange: readonly string[]) =>
            own.call(operation, {
              path: fill(
                operation,
                ids.map((id, at) => (positions.includes(at) ? (strange[at] ?? '') : id)),
              ),
              body,
            });
          const answer = await call(theirs(operation).ids);
          const missing = await call(ids.map(sameKind));
          assert.equal(answer.status, 404, answer.text);
          assert.equal(withoutIds(answer.text), withoutIds(missing.text));
          assert.deepEqual([...answer.headers.keys()], [...missing.headers.keys()]);
        }
      }),
    );
  });

  test('in the body are answered exactly as if they did not exist', async () => {
    const { own, foreign } = world();
    const withBody = operations.filter(hasBody);
    const theirs = await foreign.prepareUnchanged(withBody);
    const ours = await own.prepareUnchanged(withBody);
    // A replay names a request, which has no row, and here both accounts have recorded one with the id of the example.
    const naming = withBody.filter(
      (operation) =>
        operation.id !== 'InspectionsReplay' && JSON.stringify(theirs(operation).body).match(idForm) !== null,
    );
    assert.ok(naming.length >= 8, `only ${naming.length} operations name other resources in their body`);
    await world().unchanged(() =>
      forEach(naming, async (operation) => {
        const { body } = theirs(operation);
        const { path } = ours(operation);
        const unknown: unknown = JSON.parse(JSON.stringify(body).replaceAll(idForm, sameKind));
        const answer = await own.call(operation, { path, body });
        const missing = await own.call(operation, { path, body: unknown });
        assert.ok(answer.status >= 400 && answer.status < 500, answer.text);
        assert.equal(answer.status, missing.status);
        assert.equal(withoutIds(answer.text), withoutIds(missing.text));
      }),
    );
  });

  test('are in no list', async () => {
    await forEach(
      // Decisions come of traffic, which their own tests have.
      operations.filter(({ id, isList, params }) => isList && params.length === 0 && id !== 'DecisionsList'),
      async (operation) => {
        const { own, foreign } = world();
        // A list without POST, such as `/changes`, mentions resources of every kind.
        const isCollection = isMadeOtherwise(operation.path) || findOperation('POST', operation.path) !== undefined;
        const { id } = await foreign.make(isCollection ? operation.path : '/ip_policies');
        const list = { path: operation.path, body: undefined };
        assert.ok((await foreign.call(operation, list)).text.includes(id));
        assert.ok(!(await own.call(operation, list)).text.includes(id));
      },
    );
  });
});

inAnyWorld('hostile text', (world) => {
  test('in place of an id is answered 404, or 400 where it is no URL', async () => {
    const { own } = world();
    const withIds = operationsOfEachModuleOnce.filter(hasIds);
    const preparedFor = await own.prepareUnchanged(withIds);
    const [policy, backend] = [await own.make('/ip_policies'), await own.make('/backends/static')];
    await world().unchanged(() =>
      forEach(withIds, async (operation) => {
        const { ids, body } = preparedFor(operation);
        for (const [at, realId] of ids.entries()) {
          const place = `${operation.id} ${at}`;
          const path = (id: string) => fill(operation, ids.with(at, id));
          const hostile = hostileIds(realId, realId.startsWith('ipp') ? backend.id : policy.id);
          for (const id of someOf(hostile, 8, 'hostile ids', place)) {
            const { status, text } = await sendTarget(own, operation.method, path(id), body);
            assert.ok(status === 404 || (status === 400 && id.includes('%')), `${path(id)} → ${status} ${text}`);
            assert.equal(JSON.parse(text).status_code, status);
          }
          for (const id of someOf(brokenTargets, 2, 'broken targets', place)) {
            const head = `${operation.method} ${path(id)} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${own.token}\r\n`;
            const { status } = await sendBytes(
              own.gatehouse.url,
              `${head}Service-Version: 2\r\nConnection: close\r\n\r\n`,
            );
            assert.equal(status, 400, `${JSON.stringify(path(id))} → ${status}`);
          }
        }
      }),
    );
  });

  test('in the query is refused or leads to a page', async () => {
    await forEach(
      operations.filter(({ method, queryNames }) => method === 'GET' && queryNames.length > 0),
      async (operation) => {
        const { own } = world();
        const { path } = await own.prepare(operation);
        for (const name of operation.queryNames) {
          const hostile = hostileIds(newId('ak'), newId('ipp'));
          for (const id of someOf(hostile, 5, 'hostile values', operation.id, name)) {
            const { status, text } = await sendTarget(own, 'GET', `${path}?${name}=${id}`, undefined);
            assert.ok(status === 200 || status === 400, `${name}=${id} → ${status} ${text}`);
          }
        }
      },
    );
  });

  test('in a field is refused or kept, but never our fault', async () => {
    await forEach(operationsOfEachModuleOnce.filter(hasBody), async (operation) => {
      const { own } = world();
      const { path, body } = await own.prepare(operation);
      for (const text of someOf(hostileTexts, 3, 'hostile texts', operation.id)) {
        for (const sent of placesFor(text, operation.bodySchema ?? {}, body)) {
          const answer = await own.call(operation, { path, body: sent });
          assert.ok(answer.status < 500, `${JSON.stringify(sent).slice(0, 200)} → ${answer.status}`);
        }
      }
    });
  });
});

/** Returns copies of the body, each with the text in another place. */
function placesFor(text: string, schema: Schema, body: unknown): readonly unknown[] {
  const { type, properties, items, anyOf } = resolveSchema(schema);
  if (anyOf !== undefined) return anyOf.flatMap((each) => placesFor(text, each, body));
  if (type === 'string') return [text];
  if (type === 'array') return placesFor(text, items ?? {}, undefined).map((value) => [value]);
  if (properties === undefined) return [{ [text]: text }];
  return Object.entries(properties).flatMap(([name, property]) =>
    placesFor(text, property, undefined).map((value) => ({ ...(typeof body === 'object' ? body : {}), [name]: value })),
  );
}

function sendTarget(own: Account, method: string, target: string, body: unknown) {
  const headers = { authorization: `Bearer ${own.token}`, 'service-version': '2' };
  if (body === undefined) return requestTarget(own.gatehouse.url, method, target, headers, undefined);
  const json = { ...headers, 'content-type': 'application/json' };
  return requestTarget(own.gatehouse.url, method, target, json, JSON.stringify(body));
}

function fill({ path, params }: ApiOperation, ids: readonly string[]): string {
  return params.reduce((filled, name, at) => filled.replace(`{${name}}`, () => ids[at] ?? ''), path);
}

/** Returns an id of the same kind that no resource has. */
function sameKind(id: string): string {
  return newId(id.slice(0, id.indexOf('_')));
}

function withoutIds(text: string): string {
  return text.replaceAll(idForm, (id) => id.slice(0, id.indexOf('_')));
}

/** Returns every non-empty subset of the numbers below `count`. */
function subsets(count: number): readonly (readonly number[])[] {
  const all = Array.from({ length: 2 ** count }, (_, bits) =>
    Array.from({ length: count }, (_each, at) => at).filter((at) => (bits & (1 << at)) !== 0),
  );
  return all.slice(1);
}
