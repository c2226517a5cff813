import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { freePort } from '../../support/free-port.ts';
import { onAnyDatabase } from '../../support/each-database.ts';
import { checkData } from '../../support/openapi-check.ts';
import { createAccount, createUser } from '../../support/people.ts';
import { Site } from './support/site.ts';
import { until } from './support/until.ts';

onAnyDatabase('inspections', (newDatabase) => {
  for (const workers of ['off', '2']) {
    describe(`with workers ${workers}`, () => {
      let site: Site;
      before(async () => {
        site = await Site.start({ workers, httpsListen: `[::]:${await freePort()}` }, await newDatabase());
      });
      after(() => site[Symbol.asyncDispose]());
      const start = (body: object, token = site.gatehouse.token) =>
        site.gatehouse.post('/inspections', body, { token });

      test('show an admin the requests of a route, masked, until they are ended', async () => {
        const { gatehouse } = site;
        const { status, body: begun } = await start({ subject_id: site.routeId });
        assert.equal(status, 201, JSON.stringify(begun));
        const minutes = (Date.parse(begun.ends_at) - Date.parse(begun.created_at)) / 60_000;
        assert.ok(minutes > 59 && minutes < 61, `${minutes}`);
        const shown = async () => (await gatehouse.get(`/inspections/${begun.id}`)).body;
        for (let round = 0; round < 6; round++)
          await site.askHttps({
            path: `/a/hook?token=hunter2&n=${round}`,
            method: 'POST',
            body: '{"password":"hunter2"}',
            headers: { authorization: 'Bearer hunter2' },
          });
        await until(async () => (await shown()).recorded === 6, 'recorded');
        const all = await shown();
        checkData('InspectionWithRequests', all);
        assert.ok(!JSON.stringify(all).includes('hunter2'));
        const [{ target, method, route_id: routeId, request, answer }] = all.requests;
        assert.deepEqual(
          [target, method, routeId, request.body, answer.status],
          ['/a/hook?token=[masked]&n=5', 'POST', site.routeId, '{"password":"[masked]"}', 200],
        );
        const { body: list } = await gatehouse.get('/inspections');
        assert.deepEqual(
          list.inspections.map(({ id }: { id: string }) => id),
          [begun.id],
        );
        assert.equal((await gatehouse.delete(`/inspections/${begun.id}`)).status, 204);
        assert.equal((await gatehouse.get(`/inspections/${begun.id}`)).status, 404);
        await site.askHttps({ path: '/a/after' });
        assert.deepEqual((await gatehouse.get('/inspections')).body.inspections, []);
      });

      test('are for admins of the account alone, and for what is theirs', async () => {
        const { gatehouse } = site;
        const { body: begun } = await start({ subject_id: site.edgeId, minutes: 1 });
        const other = await createUser(gatehouse, 'admin', await createAccount(gatehouse));
        const member = await createUser(gatehouse, 'member');
        assert.equal((await start({ subject_id: site.edgeId }, member.token)).status, 403);
        assert.equal((await gatehouse.get('/inspections', { token: member.token })).status, 403);
        assert.equal((await gatehouse.get(`/inspections/${begun.id}`, { token: member.token })).status, 403);
        for (const subject of [site.edgeId, site.routeId])
          assert.equal((await start({ subject_id: subject }, other.token)).status, 404);
        assert.equal((await gatehouse.get(`/inspections/${begun.id}`, { token: other.token })).status, 404);
        assert.equal((await gatehouse.delete(`/inspections/${begun.id}`, { token: other.token })).status, 404);
        assert.deepEqual((await gatehouse.get('/inspections', { token: other.token })).body.inspections, []);
        for (const subject of [site.backendId, 'x', 'edghts_x', `${site.edgeId}x`])
          assert.equal((await start({ subject_id: subject })).status, 404, subject);
        for (const minutes of [0, 61, 1.5, '5'])
          assert.equal((await start({ subject_id: site.edgeId, minutes })).status, 400);
        assert.equal((await gatehouse.delete(`/inspections/${begun.id}`)).status, 204);
      });
    });
  }
});
