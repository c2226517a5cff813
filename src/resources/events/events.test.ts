import assert from 'node:assert/strict';
import { test } from 'node:test';

import { adminOnly } from '../../api/errors.ts';
import { createAccount, createUser } from '../../../test/support/people.ts';
import { refuses } from '../../../test/support/refusals.ts';
import { onEachGatehouse } from '../../../test/support/shared-gatehouse.ts';
import { loggedChanges } from '../changes/service.ts';

const key = (bytes: number) => `whsec_${Buffer.alloc(bytes, 1).toString('base64')}`;
const secret = key(32);
const url = 'https://hooks.example.com/in?team=1';
const target = { webhook: { url, secret } };
const sources = [{ type: 'ip_policy_created.v0' }, { type: 'domain_deleted.v0' }];

onEachGatehouse('events', (g) => {
  const newDestination = () => g().create('/event_destinations', { target });
  const sealedOf = async (id: string) => {
    const { store } = g().app.context;
    return (await store.queries.all('SELECT sealed_secrets FROM event_destinations WHERE id = $1', [id]))[0]?.[0];
  };

  test('a destination has every field, and nothing ever shows its secret', async () => {
    const { id, uri, created_at, ...rest } = await g().create('/event_destinations', { format: 'JSON', target });
    assert.match(id, /^ed_[0-9A-Za-z]{27}$/);
    assert.match(created_at, /Z$/);
    assert.equal(uri, `${g().url}/event_destinations/${id}`);
    const none = { kinesis: null, firehose: null, cloudwatch_logs: null, datadog: null, azure_logs_ingestion: null };
    const delivery = {
      sent_at: null,
      failing_since: null,
      retries_at: null,
      last_error: null,
      undelivered: 0,
      lost: 0,
    };
    assert.deepEqual(rest, {
      format: 'json',
      target: { webhook: { url }, ...none },
      delivery: { status: 'unused', ...delivery },
    });
    const shown = [`/event_destinations/${id}`, '/event_destinations', `/changes?resource_id=${id}`];
    for (const path of shown) assert.doesNotMatch((await g().get(path)).text, /whsec_|AQEB/);
  });

  test('an update keeps the secret where the URL stays, and asks for it where it changes', async () => {
    const { id } = await newDestination();
    const sealed = await sealedOf(id);
    const path = `/event_destinations/${id}`;
    assert.equal((await g().patch(path, { target: { webhook: { url } } })).status, 200);
    assert.equal(await sealedOf(id), sealed);
    const elsewhere = { webhook: { url: 'https://other.example.com/' } };
    const { status, body } = await g().patch(path, { target: elsewhere });
    assert.deepEqual([status, /secret is missing/.test(body.msg)], [400, true]);
    assert.equal(
      (await g().patch(path, { target: { webhook: { ...elsewhere.webhook, secret: key(24) } } })).status,
      200,
    );
    assert.notEqual(await sealedOf(id), sealed);
    assert.equal((await g().get(path)).body.target.webhook.url, elsewhere.webhook.url);
  });

  test('targets that events do not reach are refused, by name and with what to do', async () => {
    const refused = async (given: object, said: RegExp, more: object = {}) => {
      const { status, body } = await g().post('/event_destinations', { target: given, ...more });
      assert.equal(status, 400);
      assert.match(body.msg, said);
    };
    for (const name of ['kinesis', 'firehose', 'cloudwatch_logs', 'datadog', 'azure_logs_ingestion']) {
      await refused({ [name]: {} }, new RegExp(`not sent to ${name} from here. Send them as a "webhook"`));
      await refused({ ...target, [name]: { api_key: 'k' } }, new RegExp(name));
    }
    await refused({}, /exactly one target/);
    await refused({ webhook: null, datadog: null }, /exactly one target/);
    const webhook = (changed: object) => ({ webhook: { ...target.webhook, ...changed } });
    await refused(webhook({ url: 'http://hooks.example.com/' }), /must begin with https/);
    await refused(webhook({ url: 'https://me:you@hooks.example.com/' }), /no user or password/);
    await refused(webhook({ url: 'https://hooks.example.com/#a' }), /no fragment/);
    await refused(webhook({ url: 'hooks' }), /is not a URL/);
    await refused(webhook({ secret: undefined }), /secret is missing/);
    for (const bad of ['hush', key(8), key(65), 'whsec_hush hush']) {
      const { body } = await g().post('/event_destinations', { target: webhook({ secret: bad }) });
      assert.match(body.msg, /openssl rand/);
      assert.ok(!body.msg.includes(bad.slice(-4)), 'it is not repeated');
    }
    await refused(target, /"xml" is not known/, { format: 'xml' });
  });

  test('a subscription names types and destinations, and its sources are resources of their own', async () => {
    const { id: destination } = await newDestination();
    const made = await g().create('/event_subscriptions', { sources, destination_ids: [destination], metadata: 'm' });
    const path = `/event_subscriptions/${made.id}`;
    const source = (type: string) => ({ type, uri: `${g().url}${path}/sources/${type}` });
    assert.match(made.id, /^esb_[0-9A-Za-z]{27}$/);
    assert.deepEqual(made.destinations, [{ id: destination, uri: `${g().url}/event_destinations/${destination}` }]);
    assert.deepEqual(made.sources, [source('ip_policy_created.v0'), source('domain_deleted.v0')]);
    const type = 'tcp_address_updated.v0';
    assert.deepEqual(await g().create(`${path}/sources`, { type }), source(type));
    assert.deepEqual(await g().create(`${path}/sources`, { type }), source(type));
    assert.deepEqual((await g().get(`${path}/sources/${type}`)).body, source(type));
    assert.deepEqual((await g().patch(`${path}/sources/${type}`, {})).body, source(type));
    assert.equal((await g().delete(`${path}/sources/ip_policy_created.v0`)).status, 204);
    assert.equal((await g().delete(`${path}/sources/ip_policy_created.v0`)).status, 404);
    const { body } = await g().get(`${path}/sources`);
    assert.deepEqual(body, { sources: [source('domain_deleted.v0'), source(type)], uri: `${g().url}${path}/sources` });
    await g().patch(path, { sources: [], destination_ids: [], description: 'd' });
    const { body: kept } = await g().get(path);
    assert.deepEqual([kept.sources.length, kept.destinations.length, kept.description], [2, 1, 'd']);
    assert.equal((await g().get(`/event_destinations/${destination}`)).body.delivery.status, 'ok');
  });

  test('types that are not sent, and destinations that are none, are refused', async () => {
    const { id } = await newDestination();
    const refused = async (body: object, said: RegExp) => {
      const answer = await g().post('/event_subscriptions', { sources, destination_ids: [id], ...body });
      assert.equal(answer.status, 400);
      assert.match(answer.body.msg, said);
    };
    await refused({ sources: [{ type: 'http_request_complete.v0' }] }, /no gateway keeps any.*GATEHOUSE_DECISIONS/);
    await refused({ sources: [{ type: 'http_request.v0' }] }, /"http_request.v0" are not sent here/);
    await refused({ sources: [{ type: 'ip_policy_create.v0' }] }, /did you mean ip_policy_created.v0/);
    await refused({ sources: [...sources, ...sources] }, /more than once/);
    await refused({ destination_ids: ['ipp_1'] }, /begin with "ed_"/);
    await refused({ destination_ids: [id, id] }, /more than once/);
    await refused({ destination_ids: [`ed_${'0'.repeat(27)}`] }, /not an event destination of this account/);
  });

  test('a destination that a subscription names stays, and goes with the last one', async () => {
    const [one, other] = [await newDestination(), await newDestination()];
    const body = { sources, destination_ids: [one.id, other.id], description: 'told' };
    const { id } = await g().create('/event_subscriptions', body);
    const refusal = await g().delete(`/event_destinations/${one.id}`);
    assert.deepEqual([refusal.status, /"told" \(esb_/.test(refusal.body.msg)], [409, true]);
    await g().patch(`/event_subscriptions/${id}`, { destination_ids: [other.id] });
    assert.equal((await g().delete(`/event_destinations/${one.id}`)).status, 204);
    assert.equal((await g().delete(`/event_subscriptions/${id}`)).status, 204);
    assert.equal((await g().delete(`/event_destinations/${other.id}`)).status, 204);
  });

  test('the log of an account is that of this account alone, where it is listed and where it is read', async () => {
    const account = await createAccount(g());
    const { token } = await createUser(g(), 'admin', account);
    const { id } = await g().create('/ip_policies', { description: 'mine' });
    const { id: other } = await g().create('/ip_policies', { description: 'of another' }, { token });
    const { services, store } = g().app.context;
    const log = services.get(loggedChanges);
    const placeOf = async (resource: string) => {
      const sql = 'SELECT account_id, version, position FROM change_log WHERE resource_id = $1';
      const [[accountId, version, position] = []] = await store.queries.all(sql, [resource]);
      return { accountId: String(accountId), place: { version: Number(version), position: Number(position) } };
    };
    const [mine, others] = [await placeOf(id), await placeOf(other)];
    assert.notEqual(mine.accountId, others.accountId);
    const start = { version: mine.place.version - 1, position: 999_999 };
    const listed = async (accountId: string) =>
      (await log.after(store.queries, accountId, start, 100)).map(({ place }) => place);
    assert.deepEqual(await listed(mine.accountId), [mine.place]);
    assert.deepEqual(await listed(others.accountId), [others.place]);
    assert.equal(await log.read(store.queries, mine.accountId, others.place), undefined);
    assert.equal(await log.read(store.queries, others.accountId, mine.place), undefined);
    assert.notEqual(await log.read(store.queries, mine.accountId, mine.place), undefined);
  });

  test('only admins see where events go', async () => {
    const { token } = await createUser(g(), 'member');
    for (const path of ['/event_destinations', '/event_subscriptions'])
      await refuses(g(), ['GET', path, undefined, { token }], 403, adminOnly.code);
  });
});
