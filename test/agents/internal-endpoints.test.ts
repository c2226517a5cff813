import assert from 'node:assert/strict';
import { test } from 'node:test';

import { poolFull } from '../../src/resources/endpoints/errors.ts';
import { mostInPool } from '../../src/resources/endpoints/service.ts';
import { tunnels } from '../../src/resources/tunnels/table.ts';
import { httpProgram, rawProgram, visit } from './support/endpoint-visitors.ts';
import { newToken, onEachServed } from './support/served-agents.ts';
import type { ServedAgents } from './support/served-agents.ts';

async function shownAt({ gatehouse }: ServedAgents, url: string) {
  const { endpoints } = (await gatehouse.get('/endpoints')).body;
  return endpoints.find((each: { readonly url: string }) => each.url === url);
}

onEachServed('internal endpoints of agents', (served) => {
  async function connect() {
    const { gatehouse, library } = served();
    return library(await newToken(gatehouse));
  }

  test('an internal endpoint is bound by its binding or its name, is shown as such, and no visitor reaches it', async (t) => {
    const program = await httpProgram(t, (_request, response) => response.end('in'));
    const session = await connect();
    const one = await session.httpEndpoint().binding('internal').domain('one.internal').listenAndForward(program);
    const two = await session.httpEndpoint().domain('two.shop.internal').listenAndForward(program);
    assert.deepEqual([one.url(), two.url()], ['https://one.internal', 'https://two.shop.internal']);
    for (const url of [one.url(), two.url()]) {
      const shown = await shownAt(served(), url ?? '');
      assert.deepEqual([shown.bindings, shown.port, shown.type], [['internal'], 443, 'ephemeral']);
      await assert.rejects(visit(served(), url), /unrecognized name|alert/i);
    }
    const open = await session.httpEndpoint().listenAndForward(program);
    const outside = await visit(served(), open.url(), { headers: { host: 'one.internal' } });
    assert.deepEqual([outside.status, outside.body.includes('in<')], [421, false]);
    const { hostname } = new URL(open.url() ?? '');
    assert.equal((await visit(served(), `https://${hostname}`)).body, 'in');
  });

  test('TCP and TLS endpoints are internal too, and take no port or name of the installation', async (t) => {
    const port = await rawProgram(t, (socket) => socket.pipe(socket));
    const { agent } = await served().agent(await newToken(served().gatehouse));
    const bind = (Proto: string, URL: string) =>
      agent.call('bind', { Proto, ForwardsTo: `localhost:${port}`, Opts: { URL }, Extra: { Bindings: ['internal'] } });
    assert.equal((await bind('tcp', 'tcp://db.internal:5432'))['URL'], 'tcp://db.internal:5432');
    assert.equal((await bind('tls', 'tls://*.mail.internal'))['URL'], 'tls://*.mail.internal');
    assert.equal((await bind('http', 'http://web.internal:8080'))['URL'], 'http://web.internal:8080');
    assert.equal((await shownAt(served(), 'tls://*.mail.internal')).hostport, '*.mail.internal:443');
  });

  test('what cannot be internal is refused with the number of the hosted service', async () => {
    const { agent } = await served().agent(await newToken(served().gatehouse));
    const refusal = async (Proto: string, Opts: object, Bindings: readonly string[] = ['internal']) => {
      const answer = await agent.call('bind', { Proto, ForwardsTo: 'localhost:80', Opts, Extra: { Bindings } });
      return /ERR_NGROK_(\d+)$/.exec(String(answer['Error']))?.[1];
    };
    assert.equal(await refusal('https', {}), '9028');
    assert.equal(await refusal('https', { URL: 'https://app.example.com' }), '9029');
    assert.equal(await refusal('tcp', { URL: 'tcp://db.internal' }), '9030');
    assert.equal(await refusal('tcp', { URL: 'tcp://db.internal:70000' }), '9030');
    assert.equal(await refusal('https', { URL: 'https://a.b.c.d.e.f.internal' }), '9031');
    assert.equal(await refusal('https', { URL: 'https://app.internal:1:2' }), '9030');
    assert.equal(await refusal('https', { URL: 'https://app internal' }), '9034');
    for (const more of ['/path', '/?a=b', '#here'])
      assert.equal(await refusal('https', { URL: `https://app.internal${more}` }), '9037');
    assert.equal(await refusal('https', { URL: 'https://user@app.internal' }), '9037');
    assert.equal(await refusal('https', { URL: 'ftp://app.internal' }), '9036');
    assert.equal(await refusal('https', { URL: 'http://app.internal' }), '9036');
    const options = { URL: 'https://app.internal', MutualTLSCA: { mutual_tls_ca: '' } };
    assert.notEqual(await refusal('https', options), undefined);
    assert.match(String(await refusal('https', { URL: 'https://app.internal' }, ['public'])), /^2\d{4}$/);
    assert.deepEqual((await served().gatehouse.get('/tunnels')).body.tunnels, []);
  });

  test('names belong to the account, and one that is online is shared only where both sides ask for that', async () => {
    const { gatehouse } = served();
    const bind = async (token: string, PoolingEnabled: boolean) => {
      const { agent } = await served().agent(token);
      const Extra = { Bindings: ['internal'], PoolingEnabled };
      return agent.call('bind', { Proto: 'https', ForwardsTo: 'a', Opts: { URL: 'https://pool.internal' }, Extra });
    };
    assert.equal((await bind(await newToken(gatehouse), true))['Error'], undefined);
    assert.equal((await bind(await newToken(gatehouse), true))['Error'], undefined);
    assert.match(String((await bind(await newToken(gatehouse), false))['Error']), /ERR_NGROK_334$/);
  });

  test('a pool has room for so many agents', async () => {
    const { gatehouse } = served();
    const bind = async () => {
      const { agent } = await served().agent(await newToken(gatehouse));
      const Extra = { Bindings: ['internal'], PoolingEnabled: true };
      return agent.call('bind', { Proto: 'https', ForwardsTo: 'a', Opts: { URL: 'https://full.internal' }, Extra });
    };
    assert.equal((await bind())['Error'], undefined);
    const { store } = gatehouse.app.context;
    // As if other agents had bound it too: each of them would take a moment.
    const join = (count: number) =>
      store.writeUnlogged(async (writer) => {
        const sql = 'SELECT account_id, document, session_id, claim_id FROM tunnels LIMIT 1';
        const [[account = '', text = '', session = '', claim = ''] = []] = await writer.all(sql, []);
        for (let at = 0; at < count; at++) {
          const document = { ...JSON.parse(String(text)), ...tunnels.newDocument(String(account)) };
          await writer.run(
            'INSERT INTO tunnels (id, account_id, document, session_id, claim_id) VALUES ($1, $2, $3, $4, $5)',
            [document.id, account, JSON.stringify(document), session, claim],
          );
        }
      });
    await join(mostInPool - 2);
    assert.equal((await bind())['Error'], undefined, 'the last one');
    assert.match(
      String((await bind())['Error']),
      new RegExp(`shared by 500 already.*ERR_NGROK_${poolFull.code}$`, 's'),
    );
  });

  test('the acl of a credential holds for internal names', async () => {
    const { agent } = await served().agent(await newToken(served().gatehouse, { acl: ['bind:*.shop.internal'] }));
    const bind = (URL: string) => agent.call('bind', { Proto: 'https', ForwardsTo: 'a', Opts: { URL }, Extra: {} });
    assert.equal((await bind('https://web.shop.internal'))['URL'], 'https://web.shop.internal');
    assert.match(String((await bind('https://other.internal'))['Error']), /ERR_NGROK_20095$/);
  });
});
