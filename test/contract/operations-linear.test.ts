import assert from 'node:assert/strict';
import { test } from 'node:test';

import { fillers, headerNames, pump, staysLinear, thisThread } from '../e2e/neighbours/support/pumped.ts';
import { RawVisitor } from '../e2e/neighbours/support/raw-visitor.ts';
import type { Gatehouse } from '../support/gatehouse.ts';
import { isLong } from '../support/long-form.ts';
import { pick, someOf } from '../support/sample.ts';
import { inAnyWorld } from './support/in-worlds.ts';
import { forEach, operations, operationsOfEachModuleOnce, publicOperations } from './support/operations.ts';

const limitMs = 300_000;
const bodySize = 20_000;
const headSize = 3000;
/** All of them at each place would take an hour. */
const fillersFor = (...place: readonly string[]) => (isLong ? fillers : pick(fillers, 2, ['fillers', ...place]));
const withBody = operationsOfEachModuleOnce.filter(({ bodySchema }) => bodySchema !== undefined);
const withQuery = operations.filter(({ method, queryNames }) => method === 'GET' && queryNames.length > 0);

inAnyWorld('the cost of what callers send grows no faster than its size', (world) => {
  test('texts of bodies', { timeout: limitMs }, async () => {
    const { own } = world();
    const prepared = await own.prepareUnchanged(withBody);
    await forEach(withBody, async (operation) => {
      const { path, body } = prepared(operation);
      for (const leaf of textsIn(body))
        for (const filler of fillersFor('body', operation.id, leaf.join('.')))
          await staysLinear(thisThread, `${leaf.join('.')}: ${JSON.stringify(filler)}`, bodySize, (size) =>
            own.call(operation, { path, body: withText(body, leaf, pump(filler, size)) }),
          );
    });
  });

  test('bodies that are no JSON, or nothing but brackets, names and numbers', { timeout: limitMs }, async () => {
    const { gatehouse } = world();
    using visitor = new RawVisitor(portOf(gatehouse));
    const forms = ['[', '{"a":', '"', '1', ' ', '\\u0000', '{"__proto__":', '-', '1e', 'null,', '"a":1,', ','];
    for (const form of forms)
      await staysLinear(thisThread, form, bodySize, (size) => {
        const text = pump(form, size);
        return visitor.ask(
          `POST /ip_policies HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${gatehouse.token}\r\nService-Version: 2\r\nContent-Type: application/json\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
        );
      });
  });

  test('queries', { timeout: limitMs }, async () => {
    const { own } = world();
    const prepared = await own.prepareUnchanged(withQuery);
    using visitor = new RawVisitor(portOf(own.gatehouse));
    await forEach(withQuery, async (operation) => {
      const { path } = prepared(operation);
      for (const name of [...operation.queryNames, 'unknown'])
        for (const filler of fillersFor('query', operation.id, name))
          await staysLinear(thisThread, `${name}=${filler}`, headSize, (size) =>
            visitor.ask(get(`${path}?${name}=${pump(encodeURIComponent(filler), size)}`, bearerOf(own.gatehouse))),
          );
    });
  });

  test('filters', { timeout: limitMs }, async () => {
    const { gatehouse } = world();
    using visitor = new RawVisitor(portOf(gatehouse));
    const pieces = ['(', '!', '-', 'obj.', '"', "'", 'a||', 'a&&', '1+', '[', 'obj.id==', '?', ' ', '\\', 'size('];
    for (const piece of pieces)
      for (const path of ['/api_keys', '/changes', '/ip_policy_rules'])
        await staysLinear(thisThread, `${path} ${piece}`, headSize, (size) =>
          visitor.ask(get(`${path}?filter=${pump(encodeURIComponent(piece), size)}`, bearerOf(gatehouse))),
        );
  });

  test('headers and paths', { timeout: limitMs }, async () => {
    const { gatehouse } = world();
    using visitor = new RawVisitor(portOf(gatehouse));
    const ask = (target: string, more: string) => visitor.ask(get(target, more));
    const bearer = bearerOf(gatehouse);
    assert.match(await ask('/api_keys', `${bearer}x-a: ${pump('a', headSize * 4)}\r\n`), /^HTTP\S+ 200/);
    for (const name of headerNames('src/api', 'src/resources', 'src/lib'))
      for (const filler of someOf(fillers, 4, 'fillers of headers', name))
        for (const more of name === 'authorization' ? [''] : ['', bearer])
          await staysLinear(thisThread, `${name}: ${JSON.stringify(filler)}`, headSize, (size) =>
            ask('/api_keys', `${more}${name}: ${pump(filler, size)}\r\n`),
          );
    for (const { path } of publicOperations.filter(({ method }) => method === 'GET').slice(0, 10))
      for (const filler of someOf(
        fillers.filter((each) => !/\s/.test(each)),
        4,
        'fillers of paths',
        path,
      ))
        await staysLinear(thisThread, path + filler, headSize, (size) => ask(path + pump(filler, size), bearer));
    for (const filler of fillers.filter((each) => !/\s/.test(each)))
      for (const start of ['/', '/edges/', '/api_keys/', '/edges/https/a/routes/', '/api_keys?'])
        await staysLinear(thisThread, start + filler, headSize, (size) => ask(start + pump(filler, size), bearer));
  });
});

function portOf({ url }: Gatehouse): number {
  return Number(new URL(url).port);
}

function bearerOf({ token }: Gatehouse): string {
  return `Authorization: Bearer ${token}\r\n`;
}

function get(target: string, more: string): string {
  return `GET ${target} HTTP/1.1\r\nHost: localhost\r\n${more}Service-Version: 2\r\n\r\n`;
}

type Place = readonly (string | number)[];

/** Places of all texts in a body. */
function textsIn(value: unknown, place: Place = []): readonly Place[] {
  if (typeof value === 'string') return [place];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, each]) =>
    textsIn(each, [...place, Array.isArray(value) ? Number(key) : key]),
  );
}

/** The body with another text at this place. */
function withText(value: unknown, [first, ...rest]: Place, text: string): unknown {
  if (first === undefined) return text;
  if (Array.isArray(value)) return value.with(Number(first), withText(value[Number(first)], rest, text));
  // A place of `textsIn` leads through objects and lists alone.
  const fields = value as Readonly<Record<string, unknown>>;
  return { ...fields, [first]: withText(fields[first], rest, text) };
}
