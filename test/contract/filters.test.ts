import assert from 'node:assert/strict';
import { test } from 'node:test';

import { onGatehousesInTurn } from '../support/shared-gatehouse.ts';
import { forEach, operations } from './support/operations.ts';

/** Routes are few on each edge, and decisions are not in the database: `filter` is refused there. */
const whole = new Set(['HttpsEdgeRoutesList', 'DecisionsList']);

const lists = operations.filter(({ id, method, described, isList }) => {
  const { schema } = described.responses['200']?.content?.['application/json'] ?? {};
  return method === 'GET' && !whole.has(id) && (isList || schema?.$ref?.endsWith('Page') === true);
});

/** A path with ids that name nothing, for lists below another resource. */
const isAlone = ({ path }: { readonly path: string }) => !path.includes('{');

onGatehousesInTurn('filters of lists', (g) => {
  const get = (path: string, filter: string) => g().get(`${path}?filter=${encodeURIComponent(filter)}`);

  test('every list takes a filter, and says by which fields', async () => {
    assert.ok(lists.length >= 17, `found only ${lists.length} lists`);
    await forEach(lists, async ({ queryNames, described }) => {
      assert.ok(queryNames.includes('filter'));
      const { description = '' } =
        (described.parameters as readonly { readonly name?: string; readonly description?: string }[]).find(
          ({ name }) => name === 'filter',
        ) ?? {};
      assert.match(description, /these fields: id, /);
    });
  });

  test('every field that a list names can be used, in each way that fits it', async () => {
    await forEach(lists.filter(isAlone), async ({ path, described }) => {
      const parameters = described.parameters as readonly { readonly name?: string; readonly description?: string }[];
      const { description = '' } = parameters.find(({ name }) => name === 'filter') ?? {};
      const fields = description
        .replace(/^.*these fields: /s, '')
        .replace(/\.$/, '')
        .split(', ');
      for (const field of fields) {
        const answers = await Promise.all([
          get(path, `obj.${field} == null || true`),
          get(path, `obj.${field} == "x" || true`),
          get(path, `obj.${field} < 1 || true`),
          get(path, `obj.${field} == true || true`),
          get(path, `"x" in obj.${field} || true`),
          get(path, `obj.${field} > timestamp(time.now) || true`),
        ]);
        const statuses = answers.map(({ status }) => status);
        assert.equal(statuses[0], 200, `${field}: ${answers[0].text}`);
        // A field has one kind, and is refused where it does not fit.
        assert.ok(statuses.slice(1).includes(200), `${field} is of no kind`);
        assert.ok(statuses.every((status) => status === 200 || status === 400));
      }
    });
  });

  test('every list is empty under a filter that nothing passes, and refuses a field that it does not have', async () => {
    await forEach(lists.filter(isAlone), async ({ path }) => {
      const { status, body } = await get(path, 'obj.id == "none"');
      assert.equal(status, 200);
      const { uri: _uri, next_page_uri: next, ...entries } = body;
      assert.deepEqual(Object.values(entries), [[]]);
      assert.equal(next, null);
      const fault = await get(path, 'obj.nonsense == "x"');
      assert.equal(fault.status, 400);
      assert.equal(fault.body.error_code, 'ERR_GATEHOUSE_250');
      assert.match(fault.body.msg, /At character 5: there is no field obj\.nonsense to filter by; there are id, /);
    });
  });
});
