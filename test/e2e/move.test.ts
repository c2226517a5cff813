import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';

import { newId } from '../../src/lib/ids.ts';
import { exampleOf } from '../contract/support/load-examples.ts';
import { openApi } from '../contract/support/operations.ts';
import { makePair } from '../support/certificate-pair.ts';
import { onEachDatabase } from '../support/each-database.ts';
import { newSqlite } from '../support/scratch.ts';
import { gatehouse, Service } from './support/program.ts';

/** Lists of what runs at the moment, and of what gateways keep themselves: neither is moved. */
const observed = /^\/(?:decisions|gateways|inspections|traffic|tunnels|tunnel_sessions)\b/;
const lists = Object.keys(openApi.paths).filter(
  (path) =>
    openApi.paths[path]?.['get'] !== undefined &&
    /^[/a-z_]+$/.test(path) &&
    !path.endsWith('z') &&
    // The last change, which need not be one of a configuration.
    path !== '/configuration/diff' &&
    !observed.test(path),
);

const [at, until] = ['2026-11-17T00:00:00Z', '2099-01-01T00:00:00Z'];

onEachDatabase('moving an installation to', (_newDatabase, newEmpty) => {
  test('all that the API shows is the same afterwards, and the next write continues', async () => {
    const source = newSqlite();
    const before = await withService(source, async (service) => {
      await fill(service);
      signInVisitor(source);
      await setQuotas(source, '--set', 'ip_restrictions=0');
      await setQuotas(source, '--account', 'default', '--set', 'bot_users=123');
      return readEverything(service);
    });
    const target = await newEmpty();
    const moved = await gatehouse('move', '--database-url', source, '--to', target);
    assert.equal(moved.code, 0, moved.errors);
    assert.match(moved.out, /^ip_policy_rule_rows +3 {2}[0-9a-f]{64}$/m);

    await withService(target, async (service) => {
      const after = await readEverything(service);
      assert.deepEqual([...after.keys()], [...before.keys()]);
      for (const [path, shown] of before) assert.equal(after.get(path), shown, path);
      const { id } = await service.create('/ip_policies', { description: 'after the move' });
      assert.equal((await service.call('GET', `/ip_policies/${id}`)).status, 200);
    });
  });
});

async function withService<T>(database: string, work: (service: Service) => Promise<T>): Promise<T> {
  await using service = await Service.start(database);
  return await work(service);
}

/** A visitor of an edge and their session, as a gateway writes them. */
function signInVisitor(source: string): void {
  using database = new DatabaseSync(source.replace('sqlite:', ''));
  // The service writes at its own times, too.
  database.exec('PRAGMA busy_timeout = 10000');
  const account_id = String(database.prepare('SELECT id FROM accounts').get()?.['id']);
  const provider = { name: 'id.example.com', url: 'https://id.example.com' };
  const facts = { account_id, created_at: at, email: 'ada@example.com', name: 'Ada', provider, last_active: at };
  const user = { ...facts, id: newId('au'), subject: '1', last_login: at };
  const session = {
    ...facts,
    id: newId('as'),
    user_id: user.id,
    edge_id: newId('edghts'),
    route_id: newId('edghtsrt'),
    host: 'app.example.com',
    source: '192.0.2.1',
    user_agent: '',
    groups: [],
    expires_at: until,
    ends_at_ms: Date.parse(until),
  };
  database
    .prepare('INSERT INTO app_users (id, account_id, document, provider_url, subject) VALUES (?, ?, ?, ?, ?)')
    .run(user.id, account_id, JSON.stringify(user), provider.url, user.subject);
  database
    .prepare('INSERT INTO app_sessions (id, account_id, document, user_id, expires_at_ms) VALUES (?, ?, ?, ?, ?)')
    .run(session.id, account_id, JSON.stringify(session), user.id, Date.parse(until));
}

/** One below what is used must not refuse what is moved. */
async function setQuotas(database: string, ...args: readonly string[]): Promise<void> {
  const { code, errors } = await gatehouse('accounts', 'quotas', ...args, '--database-url', database);
  assert.equal(code, 0, errors);
}

/** Creates one of every resource. */
async function fill(service: Service): Promise<void> {
  const policy = await service.create('/ip_policies', { description: 'offices', metadata: '{"é": "🏠"}' });
  await service.create('/ip_policy_rules', { ip_policy_id: policy.id, cidr: '10.0.0.0/8', action: 'allow' });
  await service.create('/ip_policy_rules', { ip_policy_id: policy.id, cidr: '2001:db8::/32', action: 'deny' });
  await service.create('/ip_restrictions', { type: 'endpoints', ip_policy_ids: [policy.id] });
  await service.create('/tls_certificates', makePair('moved', '-subj', '/CN=moved.example.com'));
  const bot = await service.create('/bot_users', { name: 'ci' });
  await service.create('/api_keys', { owner_id: bot.id, description: 'of the bot' });
  const backend = await service.create('/backends/static', { address: '127.0.0.1:9' });
  const tcp = await service.create('/edges/tcp', {
    hostports: ['127.0.0.1:19871'],
    backend: { backend_id: backend.id },
  });
  await service.call('PUT', `/edges/tcp/${tcp.id}/ip_restriction`, { ip_policy_ids: [policy.id] });
  const https = await service.create('/edges/https', { hostports: ['moved.example.com:443'] });
  const route = await service.create(`/edges/https/${https.id}/routes`, { match: '/', match_type: 'path_prefix' });
  const headers = await service.call('PUT', `/edges/https/${https.id}/routes/${route.id}/request_headers`, {
    add: { 'x-a': '1' },
  });
  assert.equal(headers.status, 200, headers.text);
  for (const path of lists.filter((each) => openApi.paths[each]?.['post']?.responses['201'] !== undefined))
    await makeExample(service, path);
}

/** Creates a resource with the example that the contract tests use, and all that it names. */
async function makeExample(service: Service, path: string): Promise<{ readonly id: string }> {
  const body = await exampleOf(
    openApi.paths[path]?.['post']?.operationId ?? '',
    path,
  )?.({
    make: (other) => makeExample(service, other),
  });
  return service.create(path, body);
}

/** Reads every list of the API, as text. */
async function readEverything(service: Service): Promise<ReadonlyMap<string, string>> {
  const answers = new Map<string, string>();
  for (const path of lists) {
    const { status, text } = await service.call('GET', path);
    assert.equal(status, 200, `GET ${path}: ${text}`);
    // Both are written some time after the call that they come from.
    answers.set(path, text.replaceAll(/,"last_(?:seen|used)_at":"[^"]*"/g, ''));
  }
  const empty = [...answers]
    .filter(([, text]) => /\[\]/.test(text) && !/"(?:id|kind)"/.test(text))
    .map(([path]) => path);
  // An empty list would prove nothing about its table.
  assert.deepEqual(empty, [], 'fill() leaves something out');
  return answers;
}
