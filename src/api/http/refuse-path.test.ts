import assert from 'node:assert/strict';
import { test } from 'node:test';

import { rawAnswers } from '../../../test/support/raw-answers.ts';
import { onAnyGatehouse } from '../../../test/support/shared-gatehouse.ts';
import { KnownPaths } from './not-found.ts';

const limits = { authFailures: '3', authFailuresSlowed: '0' };

onAnyGatehouse(
  'a path that does not exist',
  (g) => {
    const get = (path: string, head = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${head}\r\n`;
    const last = get('/healthz', 'Connection: close\r\n');
    const bearer = (token: string) => `Authorization: Bearer ${token}\r\n`;
    const answerTo = async (path: string, head?: string) => {
      const [answer] = await rawAnswers(g().url, [get(path, head) + last]);
      return answer ?? assert.fail('no answer');
    };

    test('who is signed in is told which one was meant, with ids as they stand', async () => {
      const id = `edghts_${'0'.repeat(27)}`;
      for (const [path, meant] of [
        ['/ip_policy', '/ip_policies'],
        [`/edges/https/${id}/routs`, `/edges/https/${id}/routes`],
        [`/v1/edge/https/${id}/routes//`, `/edges/https/${id}/routes`],
      ] as const) {
        const { status, body } = await answerTo(path, bearer(g().token));
        assert.equal(status, 404);
        assert.ok(JSON.parse(body).msg.includes(`Did you mean "${meant}"?`), body);
      }
      const { body } = await answerTo('/ip_polics', bearer(g().token));
      assert.match(body, /Did you mean/);
      assert.doesNotMatch((await answerTo('/ip_pols', bearer(g().token))).body, /Did you mean/);
    });

    test('a module of another kind of edge, and what there is in place of a call or resource, is named', async () => {
      const bearerHead = { authorization: `Bearer ${g().token}` };
      const message = async (method: string, path: string) =>
        (await g().call(method, path, undefined, { headers: bearerHead })).body.msg;
      const id = '0'.repeat(27);
      assert.match(
        await message('PUT', `/edges/tcp/edgtcp_${id}/oidc`),
        /"oidc" is at: \/edges\/https\/\{edge_id\}\/routes\/\{id\}\/oidc\.$/,
      );
      for (const [method, path, words] of [
        [
          'DELETE',
          `/users/usr_${id}`,
          /^DELETE is not possible .* Possible: GET, HEAD, PATCH\. People are deactivated, /,
        ],
        ['POST', '/users', /People are invited: POST \/invitations\.$/],
        ['PUT', `/endpoints/ep_${id}`, /A cloud endpoint is changed with PATCH/],
        ['PUT', '/api_keys', /^PUT is not possible at "\/api_keys"\. Possible: GET, HEAD, POST\.$/],
        [
          'PUT',
          `/edges/https/edghts_${id}/routes/edghtsrt_${id}/saml`,
          /^Gatehouse has no sign-in by SAML .*module oidc/,
        ],
        ['GET', '/abuse_reports', /^Gatehouse has no reports of abuse .*POST \/tunnel_sessions/],
        ['GET', '/ai_gateway_api_keys', /^Gatehouse has no AI gateway .*request_headers/],
        ['GET', '/failover_backends', /\/backends\/failover\.$/],
      ] as const)
        assert.match(await message(method, path), words, `${method} ${path}`);
    });

    test('nobody else is, and a credential that lets nobody in counts as a guess', async (t) => {
      // To look for a path costs more than all else that anybody may ask for.
      const { mock: searches } = t.mock.method(KnownPaths.prototype, 'suggestion');
      for (const head of ['', bearer('nobody'), bearer('somebody'), 'Authorization: x\r\n']) {
        const { status, body } = await answerTo('/ip_policy', head);
        assert.equal(status, 404);
        assert.match(body, /"ERR_GATEHOUSE_20001".*Check the path/);
        assert.doesNotMatch(body, /Did you mean/);
      }
      assert.equal((await answerTo('/ip_policy', bearer('anybody'))).status, 429);
      assert.equal((await answerTo('/ip_policy')).status, 404);
      assert.equal(searches.callCount(), 0, 'nothing is looked for');
      assert.match((await answerTo('/ip_policy', bearer(g().token))).body, /Did you mean/);
      assert.equal(searches.callCount(), 1);
    });

    test('costs who is not signed in no more than a call without a token, whatever its length', async () => {
      const seconds = async (path: string, expected: number) => {
        const before = process.cpuUsage();
        const answers = await rawAnswers(g().url, [get(path).repeat(100) + last]);
        const { user, system } = process.cpuUsage(before);
        assert.equal(answers.filter(({ status }) => status === expected).length, 100);
        return (user + system) / 1e6;
      };
      const paths = [
        `/edges/${'x'.repeat(73)}`,
        `/a/b/${'c'.repeat(34)}/d/${'e'.repeat(34)}/f`,
        `/${'/'.repeat(7_000)}x`,
      ];
      for (const path of paths) {
        // The first round of each compiles what the second runs.
        const costs: number[] = [];
        for (let round = 0; round < 2; round++)
          costs.push((await seconds(path, 404)) / (await seconds('/ip_policies', 401)));
        assert.ok(Math.min(...costs) < 6, `${path.slice(0, 40)}: ${costs.join()}`);
      }
    });
  },
  limits,
);
