import assert from 'node:assert/strict';
import { test } from 'node:test';

import { refuses } from '../../../../test/support/refusals.ts';
import { onGatehousesInTurn } from '../../../../test/support/shared-gatehouse.ts';

const match_type = 'path_prefix';

onGatehousesInTurn(
  'matches of HTTPS edge routes',
  (g) => {
    /** Routes of a new edge for each test: matches are unique in an edge. */
    const newRoutes = async () => `/edges/https/${(await g().create('/edges/https')).id}/routes`;

    test('what is wrong with match and match_type is told by its own number', async () => {
      const routes = await newRoutes();
      for (const match of [undefined, null, '']) await refuses(g(), ['POST', routes, { match, match_type }], 400, 7123);
      await refuses(g(), ['POST', routes, { match: '/' }], 400, 20012);
      for (const type of ['', 'regex', 'PATH_PREFIX', 7]) {
        await refuses(g(), ['POST', routes, { match: '/', match_type: type }], 400, 7130);
      }
      for (const match of [
        'blog',
        'example.com/blog',
        '*',
        ' /',
        '//',
        '//evil.example/',
        '/a//b',
        '/a;b',
        '/a?b',
        '/a#b',
        '/..',
        '/a/../b',
        '/a/./b',
        '/%2e%2e/b',
        '/a%2fb',
        '/a\\b',
        '/a%5Cb',
        '/%',
        '/%zz',
        '/a%00',
        '/a\u0000',
        '/a\r\nb',
        '/\u007f',
      ]) {
        await refuses(g(), ['POST', routes, { match, match_type }], 400, 7131);
      }
      await refuses(g(), ['POST', routes, { match: '/\uD800', match_type }], 400, 20010);
      await refuses(g(), ['POST', routes, { match: ['/'], match_type }], 400, 215);
      await refuses(g(), ['POST', routes, { match: `/${'ü'.repeat(512)}`, match_type }], 400, 7135);
      for (const match of ['/blog/', '/a b', '/café', '/a%20c', "/:'(*)", '/...', `/${'x'.repeat(1023)}`]) {
        assert.equal((await g().create(routes, { match, match_type })).match, match);
      }
    });

    test('a path is matched by one route of an edge, however it is spelt and compared', async () => {
      const [routes, others] = [await newRoutes(), await newRoutes()];
      const first = await g().create(routes, { match: '/admin', match_type });
      for (const match of ['/admin', '/%61dmin', '/%61%64min']) {
        for (const type of ['path_prefix', 'exact_path']) {
          const message = await refuses(g(), ['POST', routes, { match, match_type: type }], 409, 7126);
          assert.ok(message.includes(first.id));
        }
      }
      const second = await g().create(routes, { match: '/admin/', match_type });
      await refuses(g(), ['PATCH', `${routes}/${second.id}`, { match: '/admin' }], 409, 7126);
      await g().create(others, { match: '/admin', match_type });
      // Another spelling of its own path is no conflict.
      assert.equal((await g().patch(`${routes}/${first.id}`, { match: '/%61dmin' })).body.match, '/%61dmin');
      await g().delete(`${routes}/${first.id}`);
      await g().patch(`${routes}/${second.id}`, { match: '/admin' });
    });

    test('of many that ask for a path at once, one gets it', async () => {
      const routes = await newRoutes();
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => g().post(routes, { match: '/once', match_type })),
      );
      assert.equal(answers.filter(({ status }) => status === 201).length, 1);
      assert.equal(answers.filter(({ status }) => status === 409).length, 7);
    });
  },
  { role: 'api' },
);
