import assert from 'node:assert/strict';
import { before, test } from 'node:test';

import { refuses } from '../../../test/support/refusals.ts';
import { onGatehousesInTurn } from '../../../test/support/shared-gatehouse.ts';

const names = (count: number) => Array.from({ length: count }, (_, at) => `x-${at}`);

onGatehousesInTurn(
  'headers modules',
  (g) => {
    let route: string;

    before(async () => {
      const routes = `/edges/https/${(await g().create('/edges/https')).id}/routes`;
      route = `${routes}/${(await g().create(routes, { match: '/', match_type: 'path_prefix' })).id}`;
    });

    test('names come back in lower case, values as they are', async () => {
      for (const name of ['request_headers', 'response_headers']) {
        const body = { enabled: false, add: { 'X-A': 'Välue', HOST: 'up', 'x-empty': '' }, remove: ['X-B'] };
        const { body: answer } = await g().put(`${route}/${name}`, body);
        const add = { 'x-a': 'Välue', host: 'up', 'x-empty': '' };
        assert.deepEqual(answer, { enabled: false, add, remove: ['x-b'] });
        assert.deepEqual((await g().get(route)).body[name], answer);
      }
    });

    test('a header may be called __proto__', async () => {
      const raw = '{"add":{"__proto__":"x","constructor":"y"}}';
      const { status, text } = await g().put(`${route}/request_headers`, undefined, { raw });
      assert.equal(status, 200);
      assert.equal(text, '{"enabled":true,"add":{"__proto__":"x","constructor":"y"},"remove":[]}');
      assert.equal((await g().get(`${route}/request_headers`)).text, text);
      await g().delete(`${route}/request_headers`);
    });

    test('what is refused is not stored', async () => {
      const path = `${route}/request_headers`;
      const refusals = [
        [{ add: { 'x y': '' } }, 7023],
        [{ add: { ':path': '/' } }, 7023],
        [{ remove: ['x\r\n'] }, 7023],
        [{ add: { x: 'a\r\nb: c' } }, 7024],
        [{ add: { x: '\u0000' } }, 7024],
        [{ add: { x: '€' } }, 7024],
        [{ add: { X: '1', x: '2' } }, 7069],
        [{ remove: ['X', 'x'] }, 7069],
        [{ add: { ['x'.repeat(257)]: '' } }, 7105],
        [{ add: { x: 'x'.repeat(4097) } }, 7106],
        [{ remove: names(65) }, 7015],
        [{ add: Object.fromEntries(names(65).map((name) => [name, ''])) }, 7015],
        [{ remove: ['host'] }, 7164],
        [{ add: { host: 'a b' } }, 7024],
        [{ add: { Host: '' } }, 7024],
        [{ add: { host: 'up:0' } }, 7024],
        [{ add: { 'Content-Length': '0' } }, 20017],
        [{ remove: ['Transfer-Encoding'] }, 20017],
        [{ add: { x: 1 } }, 215],
        [{ add: { x: null } }, 215],
        [{ add: ['x'] }, 215],
        [{ remove: 'x' }, 215],
      ] as const;
      for (const [body, code] of refusals) await refuses(g(), ['PUT', path, body], 400, code);
      await refuses(g(), ['GET', path], 404, 20008);
      const most = { add: Object.fromEntries(names(64).map((name) => [name, 'v'.repeat(4096)])), remove: names(64) };
      assert.deepEqual((await g().put(path, most)).body, { enabled: true, ...most });
    });
  },
  { role: 'api' },
);
