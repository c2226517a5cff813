import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { keptDecisions as decisionsKept } from '../../../src/resources/decisions/service.ts';
import { ruleSets } from '../../../src/resources/ip-policy-rules/service.ts';
import { changeSetLimits } from '../../../src/resources/rehearsals/change-set.ts';
import { rehearsalLimits } from '../../../src/resources/rehearsals/rehearse-change.ts';
import { rounds } from '../../support/long-form.ts';
import { createAccount, createUser } from '../../support/people.ts';
import { scratchFolder } from '../../support/scratch.ts';
import {
  Changing,
  keptDecisions,
  modulesOfRoutes,
  randomChange,
  randomRequest,
  visit,
} from './support/random-visits.ts';
import { Site } from './support/site.ts';
import { until } from './support/until.ts';

test('a change is rehearsed on the visitors who came, and changes nothing', async () => {
  await using site = await Site.start({ decisions: scratchFolder() });
  const { gatehouse } = site;
  const policy = await site.policy('127.0.0.0/29', '!127.0.0.6/32');
  await gatehouse.put(`${site.routePath}/ip_restriction`, { ip_policy_ids: [policy] });
  // 2, 3 and 4 are let in, 6 and 9 are refused.
  for (const [place, times] of [
    [2, 3],
    [3, 1],
    [4, 2],
    [6, 1],
    [9, 2],
  ] as const)
    for (let time = 0; time < times; time++) await site.askHttps({ from: `127.0.0.${place}`, path: `/${time}` });
  for (let time = 0; time < 2; time++) await site.askTcp({ from: '127.0.0.2' });
  await until(async () => (await gatehouse.get('/decisions?limit=100')).body.decisions.length === 11, 'all are kept');
  const rehearse = async (method: string, path: string, sent?: unknown, options = {}) => {
    const { status, body: told, text } = await gatehouse.post('/rehearsals', { method, path, body: sent }, options);
    assert.equal(status, 200, text);
    return told;
  };
  const who = ({ visitors }: { visitors: { client_ip: string; requests: number }[] }) =>
    visitors.map(({ client_ip, requests }) => `${client_ip} ${requests}`).join(', ');
  const empty = await site.policy();
  const before = (await gatehouse.get('/configuration')).body;
  const { version } = gatehouse.app.context.store;

  const narrower = await rehearse('PUT', `/ip_policies/${policy}/rules`, ['127.0.0.3/32', '127.0.0.8/29']);
  assert.deepEqual(
    [who(narrower.newly_refused), who(narrower.newly_admitted)],
    ['127.0.0.2 3, 127.0.0.4 2', '127.0.0.9 2'],
  );
  assert.deepEqual([narrower.requests, narrower.unchanged, narrower.cannot_tell.requests], [11, 4, 0]);
  assert.deepEqual(narrower.newly_refused.visitors[0].edge_ids, [site.edgeId]);
  assert.equal(narrower.newly_refused.share, 5 / 11);

  // So many rules that they are planned outside of a transaction.
  const sets = gatehouse.app.context.services.get(ruleSets);
  const sizes = { rowsAtOnce: sets.rowsAtOnce, rowsInStep: sets.rowsInStep };
  Object.assign(sets, { rowsAtOnce: 1, rowsInStep: 1 });
  for (const rules of [['127.0.0.3/32'], ['127.0.0.3/32', '127.0.0.64/29', '127.0.0.72/29']]) {
    const planned = await rehearse('PUT', `/ip_policies/${policy}/rules`, rules);
    assert.deepEqual([planned.changes, who(planned.newly_refused)], [1, '127.0.0.2 3, 127.0.0.4 2']);
  }
  Object.assign(sets, sizes);

  const restriction = { type: 'endpoints', enforced: true, ip_policy_ids: [policy] };
  const closed = await rehearse('POST', '/ip_restrictions', restriction);
  assert.deepEqual([closed.newly_refused.requests, closed.newly_admitted.requests], [0, 0]);
  const nobody = await rehearse('POST', '/ip_restrictions', { ...restriction, ip_policy_ids: [empty] });
  assert.equal(who(nobody.newly_refused), '127.0.0.2 5, 127.0.0.4 2, 127.0.0.3 1');
  assert.equal(
    (await rehearse('POST', '/ip_restrictions', { ...restriction, enforced: false, ip_policy_ids: [empty] }))
      .newly_refused.requests,
    0,
  );

  const open = await rehearse('DELETE', `${site.routePath}/ip_restriction`);
  assert.equal(who(open.newly_admitted), '127.0.0.9 2, 127.0.0.6 1');
  const password = { credentials: [{ username: 'u', password: 'password-of-u' }] };
  const asked = await rehearse('PUT', `${site.routePath}/basic_auth`, password);
  assert.equal(who(asked.cannot_tell), '127.0.0.2 3, 127.0.0.4 2, 127.0.0.3 1');
  const gone = await rehearse('DELETE', `/edges/tcp/${site.tcpEdgeId}`);
  assert.equal(who(gone.newly_refused), '127.0.0.2 2');
  const part = await rehearse('POST', `/edges/https/${site.edgeId}/routes`, {
    match_type: 'exact_path',
    match: '/1',
    ip_restriction: { ip_policy_ids: [empty] },
  });
  assert.equal(who(part.newly_refused), '127.0.0.2 1, 127.0.0.4 1');
  assert.deepEqual((await gatehouse.get('/configuration')).body, before);
  assert.equal(gatehouse.app.context.store.version, version);
});

test('whoever may not make a change does not rehearse it either, and others are not among the visitors', async () => {
  await using site = await Site.start({ decisions: scratchFolder() });
  const { gatehouse } = site;
  await site.askHttps({ from: '127.0.0.2' });
  await until(async () => (await gatehouse.get('/decisions')).body.decisions.length === 1, 'it is kept');
  const policy = await site.policy('127.0.0.0/8');
  const write = {
    method: 'POST',
    path: '/ip_restrictions',
    body: { type: 'endpoints', enforced: true, ip_policy_ids: [policy] },
  };
  const rehearse = (sent: object, token?: string) =>
    gatehouse.post('/rehearsals', sent, token === undefined ? {} : { token });
  for (const [role, status] of [
    ['viewer', 403],
    ['member', 403],
    ['admin', 200],
  ] as const) {
    const account = await createAccount(gatehouse);
    const { token } = await createUser(gatehouse, role, account);
    const own = { ...write, body: { type: 'endpoints', enforced: true, ip_policy_ids: [] } };
    const answer = await rehearse(role === 'admin' ? { method: 'POST', path: '/ip_policies', body: {} } : own, token);
    assert.equal(answer.status, status, answer.text);
    if (status === 200) assert.deepEqual([answer.body.requests, answer.body.since], [0, null]);
  }
  const { status, body: told } = await rehearse(write);
  assert.deepEqual([status, told.requests], [200, 1]);
  const dryRuns = ['/configuration?dry_run=true', '/configuration?dry%5Frun=true', '/configuration?prune=true&dry_run'];
  for (const path of [...dryRuns, '/api_keys', '/rehearsals', '/users', '/ip_policiesx']) {
    const { status: refused, text } = await rehearse({ method: 'POST', path, body: [] });
    assert.equal(refused, 400, path);
    assert.match(text, /is no write that can be rehearsed/, path);
  }
  assert.equal((await rehearse({ ...write, path: '/ip_restrictions', body: { type: 'x' } })).status, 400);
  assert.equal((await rehearse({ method: 'DELETE', path: '/ip_policies/ipp_none' })).status, 404);
});

test('a rehearsal ends in time where its questions do not, and keeps writes of others waiting only so long', async (t) => {
  await using site = await Site.start({ decisions: scratchFolder() });
  const { gatehouse } = site;
  await site.askHttps({ from: '127.0.0.2' });
  await until(async () => (await gatehouse.get('/decisions')).body.decisions.length === 1, 'it is kept');
  const closed = [
    { kind: 'ip_policies', name: 'new', rules: [] },
    { kind: 'ip_restrictions', name: 'new', type: 'endpoints', enforced: true, ip_policies: ['new'] },
  ];
  const rehearse = async () => {
    const sent = { method: 'POST', path: '/configuration', body: closed };
    const { status, body, text } = await gatehouse.post('/rehearsals', sent);
    assert.equal(status, 200, text);
    return body;
  };
  const whole = await rehearse();
  assert.deepEqual([whole.is_partial, whole.newly_refused.requests], [false, 1]);
  const usual = { ...rehearsalLimits, ...changeSetLimits };
  t.after(() => {
    rehearsalLimits.totalMs = usual.totalMs;
    changeSetLimits.heldMs = usual.heldMs;
  });
  await site.restrict(true, await site.policy());
  changeSetLimits.heldMs = -1;
  const cut = await rehearse();
  assert.match(cut.partial.join(), /touches more/);
  const noticed = [cut.newly_refused.requests, cut.newly_admitted.requests];
  assert.deepEqual(noticed, [0, 0], 'what was not read refuses nobody, and lets nobody in');
  changeSetLimits.heldMs = usual.heldMs;
  const decisions = gatehouse.app.context.services.get(decisionsKept);
  const ask = decisions.ask.bind(decisions);
  let asked = 0;
  // Files of a store that grows as fast as it is read.
  t.mock.method(decisions, 'ask', async (...given: Parameters<typeof ask>) => {
    asked += 1;
    assert.ok(asked < 10_000, 'it comes to no end');
    return { ...(await ask(...given)), cutAt: 1_000_000 };
  });
  rehearsalLimits.totalMs = 300;
  assert.match((await rehearse()).partial.join(), /older decisions were not counted/);
});

test('a rehearsal tells of every visit what deciding it again by both configurations does', async () => {
  await using site = await Site.start({ decisions: scratchFolder() });
  const { gatehouse } = site;
  const changing = new Changing(site);
  for (const cidr of ['127.0.0.0/8', '127.0.0.0/29', '127.0.0.4/30', '!127.0.0.5/32'])
    changing.policies.push(await site.policy(cidr));
  const seedOfRun = process.env['TEST_SEED'];
  const seed = seedOfRun === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(seedOfRun);
  const why = (text: string) => `${text} (TEST_SEED=${seed})`;
  const [visits, changes] = [rounds(40, 600), rounds(15, 300)];
  const wanted = fc.sample(randomChange, { numRuns: changes, seed });
  for (const [at, one] of fc.sample(randomRequest, { numRuns: visits, seed }).entries()) {
    const write = at % 10 === 0 ? await changing.writeOf(wanted[at % changes]!) : undefined;
    if (write !== undefined) await changing.make(write);
    await visit(site, one);
  }
  const rows = await keptDecisions(site, visits);
  /** The verdict on every visit by the configuration of now. */
  const decideAll = async () => {
    const verdicts = new Map<string, string>();
    for (const { id } of rows) {
      const { body, text } = await gatehouse.get(`/decisions/${id}/explanation`);
      assert.ok(body.now !== undefined, why(text));
      verdicts.set(id, body.now.verdict);
    }
    return verdicts;
  };
  // Few of very many restrictions let anybody in.
  for (const { id } of (await gatehouse.get('/ip_restrictions?limit=100')).body.ip_restrictions)
    await gatehouse.delete(`/ip_restrictions/${id}`);
  for (const { id } of (await gatehouse.get(`/edges/https/${site.edgeId}`)).body.routes)
    for (const module of modulesOfRoutes) await gatehouse.delete(`/edges/https/${site.edgeId}/routes/${id}/${module}`);
  await gatehouse.put(`/ip_policies/${changing.policies[2]}/rules`, ['127.0.0.4/30']);
  const narrowed = { module: 'ip_restriction' as const, policies: [2] };
  const first = { kind: 'module' as const, at: 0, to: narrowed, enabled: true };
  let before = await decideAll();
  let noticed = 0;
  for (const each of [first, ...wanted]) {
    const write = await changing.writeOf(each);
    if (write === undefined) continue;
    const { status, body: told, text } = await gatehouse.post('/rehearsals', write);
    assert.ok(status === 200 || status === 409 || text.includes('already'), why(text));
    if (!(await changing.make(write))) continue;
    assert.equal(status, 200, why(text));
    const after = await decideAll();
    const counts = { newly_refused: 0, newly_admitted: 0, open: 0 };
    for (const { id } of rows) {
      const [was, is] = [before.get(id), after.get(id)];
      if (was === 'depends' || is === 'depends') counts.open += 1;
      else if (was === 'allowed' && is !== 'allowed') counts.newly_refused += 1;
      else if (was !== 'allowed' && is === 'allowed') counts.newly_admitted += 1;
    }
    const context = why(`${JSON.stringify(write)} ${JSON.stringify(counts)} ${text}`);
    const { newly_refused, newly_admitted, cannot_tell, unchanged, requests } = told;
    assert.equal(
      newly_refused.requests + newly_admitted.requests + cannot_tell.requests + unchanged,
      requests,
      context,
    );
    // What was decided settles some of those that depend on more.
    for (const effect of ['newly_refused', 'newly_admitted'] as const) {
      assert.ok(told[effect].requests >= counts[effect], context);
      assert.ok(told[effect].requests <= counts[effect] + counts.open, context);
    }
    assert.ok(cannot_tell.requests <= counts.open, context);
    noticed += counts.newly_refused + counts.newly_admitted;
    before = after;
  }
  assert.ok(noticed > 0, why('no change was noticed'));
});
