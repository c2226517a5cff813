import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { onAnyDatabase } from '../../support/each-database.ts';
import { checkData } from '../../support/openapi-check.ts';
import { createAccount, createUser } from '../../support/people.ts';
import { appHost, createAppEdge } from './support/app-edge.ts';
import { Program } from './support/program.ts';
import { Site, siteHost } from './support/site.ts';
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

    test('replay a request through all rules, marked, without secrets, and to the edge that it came to', async () => {
      const { gatehouse } = site;
      const { body: begun } = await start({ subject_id: site.edgeId });
      const shown = async () => (await gatehouse.get(`/inspections/${begun.id}`)).body;
      await site.askHttps({
        path: '/a/replay?token=hunter2&n=1',
        method: 'POST',
        body: 'hello',
        headers: { authorization: 'Bearer hunter2', 'x-one': '1', 'x-forwarded-for': '198.51.100.7' },
      });
      await until(async () => (await shown()).recorded === 1, 'recorded');
      const [{ id }] = (await shown()).requests;
      const replay = (body: object, token = gatehouse.token) =>
        gatehouse.post(`/inspections/${begun.id}/replays`, { request_id: id, ...body }, { token });
      const { status, body: sent } = await replay({});
      assert.equal(status, 200, JSON.stringify(sent));
      checkData('InspectionReplayed', sent);
      assert.deepEqual([sent.answer.status, sent.is_whole, sent.is_edited], [200, true, false]);
      assert.deepEqual(sent.left_out.toSorted(), ['?token', 'authorization']);
      await until(async () => (await shown()).recorded === 2, 'the replay is recorded');
      const [again, first] = (await shown()).requests;
      assert.deepEqual([again.id, again.replay_of, first.id], [sent.id, { id, is_edited: false }, id]);
      const valueOf = (request: typeof again, name: string) =>
        request.request.headers.find((each: { name: string }) => each.name.toLowerCase() === name)?.value;
      assert.deepEqual(
        [again.method, again.target, again.request.body, valueOf(again, 'x-one'), valueOf(again, 'gatehouse-replay')],
        ['POST', '/a/replay?n=1', 'hello', '1', id],
      );
      assert.equal(valueOf(again, 'authorization'), undefined);
      // It counts as one of the caller, whatever its headers say.
      assert.equal(again.client_ip, '127.0.0.1');
      const { body: edited } = await replay({ method: 'GET', target: '/b', headers: [], body: '' });
      assert.deepEqual([edited.answer.status, edited.is_edited, edited.left_out], [200, true, []]);
      assert.equal((await replay({ target: 'http://169.254.169.254/' })).status, 400);
      assert.equal((await replay({ request_id: 'op_x' })).status, 404);
      const member = await createUser(gatehouse, 'member');
      assert.equal((await replay({}, member.token)).status, 403);
      const other = await createUser(gatehouse, 'admin', await createAccount(gatehouse));
      assert.equal((await replay({}, other.token)).status, 404);

      const restriction = await site.restrict(true, await site.policy('203.0.113.0/24'));
      await until(async () => (await replay({})).body.answer?.status === 403, 'the rules are asked');
      assert.equal((await shown()).recorded, 3);
      await gatehouse.delete(`/ip_restrictions/${restriction.id}`);
      await until(async () => (await replay({})).body.answer?.status === 200, 'let in again');
      await gatehouse.patch(`/edges/https/${site.edgeId}`, { hostports: ['elsewhere.site.test:443'] });
      await until(async () => (await replay({})).status === 409, 'the host is not that of the edge any more');
      await gatehouse.patch(`/edges/https/${site.edgeId}`, { hostports: [`${siteHost}:443`] });
      let last = 0;
      for (let at = 0; at < 31 && last !== 429; at++) last = (await replay({})).status;
      assert.equal(last, 429);
      await gatehouse.delete(`/inspections/${begun.id}`);
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

    for (const processId of new Set(processes)) {
      const { id } = whole.requests.find((each: { process_id: string }) => each.process_id === processId);
      const sent = await api.must('POST', `/inspections/${begun.id}/replays`, { request_id: id });
      assert.deepEqual([sent.process_id, sent.answer?.status], [processId, 200]);
    }

    one.signal('SIGSTOP');
    try {
      const rest = await shown();
      assert.deepEqual(statesOf(rest).split(' ').toSorted(), ['answered', 'no_answer']);
      assert.ok(rest.recorded > 0 && rest.recorded < whole.recorded + 3);
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
