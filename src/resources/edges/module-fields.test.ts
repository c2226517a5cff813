import assert from 'node:assert/strict';
import { before, test } from 'node:test';

import { createAccount, createUser } from '../../../test/support/people.ts';
import { refuses } from '../../../test/support/refusals.ts';
import { onGatehousesInTurn } from '../../../test/support/shared-gatehouse.ts';

onGatehousesInTurn(
  'what modules name',
  (g) => {
    const newStranger = async () => createUser(g(), 'admin', await createAccount(g()));
    let edge: string;
    let route: string;
    const newPolicy = async () => (await g().create('/ip_policies')).id;
    const newBackend = async () => (await g().create('/backends/static', { address: 'a:1' })).id;
    const refOf = (collection: string, id: string) => ({ id, uri: `${g().url}${collection}/${id}` });

    before(async () => {
      edge = `/edges/tcp/${(await g().create('/edges/tcp')).id}`;
      const routes = `/edges/https/${(await g().create('/edges/https')).id}/routes`;
      route = `${routes}/${(await g().create(routes, { match: '/', match_type: 'path_prefix' })).id}`;
    });

    test('what an IP restriction module may name', async () => {
      const stranger = await newStranger();
      const foreign = (await g().create('/ip_policies', {}, stranger)).id;
      const policy = await newPolicy();
      for (const path of [`${edge}/ip_restriction`, `${route}/ip_restriction`]) {
        for (const body of [undefined, {}, { ip_policy_ids: [] }, { ip_policy_ids: null }, { module: {} }]) {
          await refuses(g(), ['PUT', path, body], 400, 7025);
        }
        const refusals = [
          [['ipp_gone'], 7007],
          [[policy, foreign], 7007],
          [[policy, policy], 20009],
          [['bkdsc_x'], 229],
          [['ipp_'], 229],
          [['ipp_\u0000'], 229],
          [["ipp_x' OR 1=1"], 229],
          [[''], 229],
          [[7], 215],
          [Array.from({ length: 101 }, (_, at) => `ipp_${at}`), 7013],
        ] as const;
        for (const [ip_policy_ids, code] of refusals) {
          await refuses(g(), ['PUT', path, { ip_policy_ids }], 400, code);
        }
        await refuses(g(), ['GET', path], 404, 20008);
      }
    });

    test('what a backend module may name', async () => {
      const stranger = await newStranger();
      const foreign = (await g().create('/backends/static', { address: 'a:1' }, stranger)).id;
      for (const path of [`${edge}/backend`, `${route}/backend`]) {
        for (const body of [undefined, {}, { backend_id: null }, { backend_id: '' }]) {
          await refuses(g(), ['PUT', path, body], 400, 20018);
        }
        for (const backend_id of ['bkdsc_gone', 'bkdtg_gone', foreign])
          await refuses(g(), ['PUT', path, { backend_id }], 400, 6501);
        for (const backend_id of ['ipp_x', 'x', 'bkdsc_ü']) await refuses(g(), ['PUT', path, { backend_id }], 400, 242);
        const backend = await newBackend();
        const { body } = await g().put(path, { backend_id: backend });
        assert.deepEqual(body, { enabled: true, backend: refOf('/backends/static', backend) });
        assert.equal((await g().delete(path)).status, 204);
      }
    });

    test('a policy in use by a module cannot be deleted, and can once nothing uses it', async () => {
      const [kept, other] = [await newPolicy(), await newPolicy()];
      for (const holder of [edge, route]) {
        const path = `${holder}/ip_restriction`;
        await g().put(path, { ip_policy_ids: [kept, other] });
        await g().put(path, { ip_policy_ids: [kept] });
        const message = await refuses(g(), ['DELETE', `/ip_policies/${kept}`], 409, 1420);
        assert.ok(message.includes(holder.split('/').at(-1) ?? ''));
        await g().put(path, { enabled: false, ip_policy_ids: [kept] });
        await refuses(g(), ['DELETE', `/ip_policies/${kept}`], 409, 1420);
        await g().delete(path);
      }
      for (const id of [kept, other]) assert.equal((await g().delete(`/ip_policies/${id}`)).status, 204);
    });
  },
  { role: 'api' },
);
