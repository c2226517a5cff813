import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { onAnyDatabase } from '../../support/each-database.ts';
import { checkData } from '../../support/openapi-check.ts';
import { createAccount, createUser } from '../../support/people.ts';
import { appHost, createAppEdge } from './support/app-edge.ts';
import { Program } from './support/program.ts';
import { Site } from './support/site.ts';
import { askHttps } from './support/traffic.ts';
import { until } from './support/until.ts';
import { startUpstream } from './support/upstream.ts';

onAnyDatabase('inspections', (newDatabase) => {
  describe('of one process', () => {
    let site: Site;
    before(async () => {
      site = await Site.start({}, await newDatabase());
    });
    after(() => site[Symbol.asyncDispose]());
    const start = (body: object, token = site.gatehouse.token) => site.gatehouse.post('/inspections', body, { token });

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

  test('are those of all gateways and their workers, while one hangs and another comes', async () => {
    await using upstream = await startUpstream();
    const databaseUrl = await newDatabase();
    await using api = await Program.start(databaseUrl, { role: 'api' });
    const gateway = (workers: string) => Program.start(databaseUrl, { role: 'gateway', workers });
    await using one = await gateway('off');
    const { edgeId } = await createAppEdge(api, upstream.port);
    const statesOf = ({ gateways }: { gateways: { state: string }[] }): string =>
      gateways.map(({ state }) => state).join(' ');
    const begun = await api.must('POST', '/inspections', { subject_id: edgeId });
    assert.deepEqual([statesOf(begun), begun.recorded], ['answered', 0]);
    await using other = await gateway('2');
    const all = [one, other];
    const shown = (query = '') => api.must('GET', `/inspections/${begun.id}${query}`);
    await until(async () => statesOf(await shown()) === 'answered answered', 'the one that has come knows of it');
    for (const { httpsPort } of all)
      await until(
        () =>
          askHttps(httpsPort, appHost, { path: '/wait' }).then(
            ({ status }) => status === 200,
            () => false,
          ),
        'the edge answers',
      );
    for (let round = 0; round < 4; round++)
      for (const { httpsPort } of all) await askHttps(httpsPort, appHost, { path: `/a?token=hunter2&n=${round}` });
    await until(async () => (await shown()).recorded >= 10, 'recorded at both');
    const whole = await shown();
    checkData('InspectionWithRequests', whole);
    assert.ok(!JSON.stringify(whole).includes('hunter2'));
    const processes: string[] = whole.requests.map(({ process_id: id }: { process_id: string }) => id);
    assert.deepEqual(
      [...new Set(processes)].toSorted(),
      whole.gateways.map(({ process_id: id }: { process_id: string }) => id).toSorted(),
    );
    const times: string[] = whole.requests.map(({ at }: { at: string }) => at);
    assert.deepEqual(times, times.toSorted().toReversed());
    assert.deepEqual((await shown(`?after=${whole.cursor}`)).requests, []);
    await askHttps(other.httpsPort, appHost, { path: '/later' });
    await until(async () => (await shown(`?after=${whole.cursor}`)).requests.length === 1, 'what has come since');

    one.signal('SIGSTOP');
    try {
      const rest = await shown();
      assert.deepEqual(statesOf(rest).split(' ').toSorted(), ['answered', 'no_answer']);
      assert.ok(rest.recorded > 0 && rest.recorded < whole.recorded + 1);
      await api.must('DELETE', `/inspections/${begun.id}`);
    } finally {
      one.signal('SIGCONT');
    }
    // It learns of the end when it is heard from again, and cannot bring the inspection back.
    await until(async () => {
      const list = await api.must('GET', '/inspections');
      return statesOf(list) === 'answered answered' && list.inspections.length === 0;
    }, 'the one that hung has heard of the end');
    assert.equal((await api.call('GET', `/inspections/${begun.id}`)).status, 404);
    assert.equal((await api.call('GET', `/inspections/${begun.id}?after=x`)).status, 400);
  });
});
