import assert from 'node:assert/strict';
import { test } from 'node:test';

import { freePort } from '../../support/free-port.ts';
import { newSqlite } from '../../support/scratch.ts';
import { Program } from './support/program.ts';

const end = { on_http_request: [{ actions: [{ type: 'deny' }] }] };
const traffic_policy = JSON.stringify(end);
const connect = traffic_policy.replace('on_http_request', 'on_tcp_connect');

test('whatever settings are narrowed, the start succeeds, and what is stored can be listed, exported, changed and deleted', async () => {
  const database = newSqlite();
  const [port, other] = [await freePort(), await freePort()];
  const shared = { 'drain-seconds': '0', 'secret-key': 'a-key-of-more-than-32-characters-000' };
  /** Paths of what was made, each with all that a change may say. */
  const made = new Map<string, object>();
  const note = (path: string, fields: object) => made.set(path, fields);
  {
    const wide = {
      'http-listen': `127.0.0.1:${await freePort()}`,
      'agent-domain': 'agents.test',
      'backend-allow-link-local': 'on',
      acme: 'on',
      'acme-directory': 'https://127.0.0.1:1/directory',
      'acme-dns-hook': '/bin/true',
    };
    await using program = await Program.start(database, { ...shared, ...wide });
    const make = async (path: string, body: object) => {
      const { id } = await program.must('POST', path, body);
      const { domain: _, ...fields } = { domain: '', ...body };
      note(`${path}/${id}`, fields);
      return id;
    };
    await make('/backends/static', { address: '169.254.1.1:80' });
    const backend = { backend_id: await make('/backends/static', { address: `127.0.0.1:${other}` }) };
    for (const domain of ['app.narrow-settings.dev', '*.wild.narrow-settings.dev', 'other.narrow-settings.dev'])
      await make('/reserved_domains', { domain, certificate_management_policy: { authority: 'letsencrypt' } });
    const { id, addr } = await program.must('POST', '/reserved_addrs', {});
    note(`/reserved_addrs/${id}`, {});
    const edge = await make('/edges/https', { hostports: ['app.narrow-settings.dev:443'] });
    await make(`/edges/https/${edge}/routes`, { match_type: 'path_prefix', match: '/', backend });
    await make('/edges/tcp', { hostports: [`localhost:${port}`], backend });
    await make('/edges/tls', { hostports: ['tls.wild.narrow-settings.dev:443'], backend });
    for (const url of [
      'http://plain.wild.narrow-settings.dev',
      'https://a.wild.narrow-settings.dev',
      'http://in.internal:8080',
    ])
      await make('/endpoints', { url, traffic_policy });
    await make('/endpoints', { url: `tcp://${addr}`, traffic_policy: connect });
  }
  const narrow = {
    'tcp-ports': '9000-9001',
    'tcp-listen-host': '127.0.0.2',
    'https-port': '8443',
    'https-listen': 'off',
    'own-names': 'app.narrow-settings.dev,*.wild.narrow-settings.dev,agents.test',
    'own-addresses': '127.0.0.0/8,169.254.0.0/16',
    vendor: 'other',
    region: 'south',
  };
  await using program = await Program.start(database, { ...shared, ...narrow });
  const { entries } = await program.must('GET', '/configuration');
  assert.ok(entries.length >= 10, `${entries.length}`);
  assert.deepEqual((await program.must('POST', '/configuration', entries)).steps, []);
  const described = entries.map((entry: object) => ({ ...entry, description: 'of a file' }));
  assert.equal((await program.must('POST', '/configuration', described)).steps.length, entries.length);
  const faults: string[] = [];
  const attempt = async (method: string, path: string, body?: object) => {
    const answer = await program.call(method, path, body);
    if (answer.status >= 300) faults.push(`${method} ${path}: ${JSON.stringify(answer.body)}`);
  };
  for (const [path, fields] of made) {
    await attempt('GET', path.slice(0, path.lastIndexOf('/')));
    await attempt('GET', path);
    await attempt('PATCH', path, { description: 'changed' });
    await attempt('PATCH', path, { ...fields, description: 'changed with all' });
  }
  const [plain = ''] =
    [...made].find(([, fields]) => 'url' in fields && String(fields.url).startsWith('http://plain')) ?? [];
  for (const [method, path] of [
    ['POST', '/endpoints'],
    ['PATCH', plain],
  ] as const) {
    const { body } = await program.call(method, path, { url: 'http://new.wild.narrow-settings.dev', traffic_policy });
    assert.match(JSON.stringify(body), /_20379".*GATEHOUSE_HTTP_LISTEN/, path);
  }
  for (const path of [...made.keys()].toReversed()) await attempt('DELETE', path);
  assert.deepEqual(faults, []);
});
