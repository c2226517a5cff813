import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';

import { nameOfInstallation } from '../../src/errors/shared.ts';
import { until } from '../e2e/gateway/support/until.ts';
import { onAnyDatabase } from '../support/each-database.ts';
import { freePort } from '../support/free-port.ts';
import { createAccount, createUser } from '../support/people.ts';
import { newToken, onEachServed, serveAgents } from './support/served-agents.ts';

/** The unmodified library of the hosted service, and agents of our own, against the whole program. */
onEachServed(
  'agents',
  (served) => {
    test('an agent signs in and is shown with its credential', async () => {
      const { gatehouse, library } = served();
      const { id, token } = await gatehouse.create('/credentials', {});
      await library(token, (builder) => builder.metadata('of the session'));
      const { body } = await gatehouse.get('/tunnel_sessions');
      assert.equal(body.tunnel_sessions.length, 1);
      const [session] = body.tunnel_sessions;
      assert.equal(session.credential.id, id);
      assert.equal(session.ip, '127.0.0.1');
      assert.equal(session.region, 'local');
      assert.equal(session.transport, 'ngrok/2');
      assert.equal(session.metadata, 'of the session');
      assert.deepEqual((await gatehouse.get(`/tunnel_sessions/${session.id}`)).body, session);
    });

    test('tokens that are malformed, unknown or deleted are refused with the code that the library shows', async () => {
      const { gatehouse, library } = served();
      await assert.rejects(library('nonsense'), { errorCode: 'ERR_NGROK_105' });
      await assert.rejects(library(gatehouse.token), { errorCode: 'ERR_NGROK_105' });
      await assert.rejects(library(''), { errorCode: 'ERR_NGROK_4018' });
      const { id, token } = await gatehouse.create('/credentials', {});
      await gatehouse.delete(`/credentials/${id}`);
      await assert.rejects(
        library(token),
        (error: Error & { errorCode?: string }) =>
          error.errorCode === 'ERR_NGROK_107' && error.message.includes('The authtoken is not valid'),
      );
    });

    test('an endpoint without a name gets two words and a number, and is shown as tunnel and endpoint', async () => {
      const { gatehouse, library } = served();
      const session = await library(await newToken(gatehouse));
      const listener = await session.httpEndpoint().metadata('of the tunnel').listenAndForward('http://127.0.0.1:1');
      assert.match(listener.url() ?? '', /^https:\/\/[a-z]+-[a-z]+-\d+\.localhost$/);
      const { body: tunnel } = await gatehouse.get(`/tunnels/${listener.id()}`);
      assert.equal(tunnel.public_url, listener.url());
      assert.equal(tunnel.proto, 'https');
      assert.equal(tunnel.metadata, 'of the tunnel');
      assert.equal(tunnel.endpoint.id, listener.id().replace('tn_', 'ep_'));
      const { body: endpoint } = await gatehouse.get(`/endpoints/${tunnel.endpoint.id}`);
      assert.equal(endpoint.url, listener.url());
      assert.equal(endpoint.hostport, `${new URL(listener.url() ?? '').hostname}:443`);
      assert.equal(endpoint.tunnel.id, listener.id());
      const [owned] = (await gatehouse.get('/credentials')).body.credentials;
      assert.deepEqual(endpoint.principal, { id: owned.owner_id, uri: '' });
      const ofOwner = `/endpoints?filter=${encodeURIComponent(`obj.principal.id == "${owned.owner_id}"`)}`;
      assert.deepEqual((await gatehouse.get(ofOwner)).body.endpoints, [endpoint]);
      assert.deepEqual((await gatehouse.get('/tunnels')).body.tunnels, [tunnel]);
      await listener.close();
      await until(async () => (await gatehouse.get(`/tunnels/${listener.id()}`)).status === 404, 'unbound');
      assert.deepEqual((await gatehouse.get('/endpoints')).body.endpoints, []);
    });

    test('a name that is online is refused with 334, unless both sides ask for pooling and the same options', async () => {
      const { gatehouse, library } = served();
      const token = await newToken(gatehouse);
      const [one, other] = [await library(token), await library(token)];
      const listen = (session: typeof one, pooling: boolean, header?: string) => {
        const endpoint = session.httpEndpoint().domain('pool.localhost').poolingEnabled(pooling);
        return (header === undefined ? endpoint : endpoint.requestHeader('x-one', header)).listenAndForward(
          'http://127.0.0.1:1',
        );
      };
      const first = await listen(one, false);
      await assert.rejects(listen(other, true), { message: /is online already.*ERR_NGROK_334/s });
      await first.close();
      await until(async () => (await gatehouse.get('/tunnels')).body.tunnels.length === 0, 'closed');
      await listen(one, true);
      await assert.rejects(listen(other, false), { message: /ERR_NGROK_334/ });
      await assert.rejects(listen(other, true, 'a'), { message: /RequestHeaders.*ERR_NGROK_20094/s });
      const second = await listen(other, true);
      assert.equal(second.url(), 'https://pool.localhost');
      assert.equal((await gatehouse.get('/tunnels')).body.tunnels.length, 2);
    });

    test('names of edges and of other accounts are refused alike, and reserved ones belong to their account', async () => {
      const { gatehouse, library } = served();
      await gatehouse.create('/edges/https', { hostports: ['edge.localhost:443'] });
      await gatehouse.create('/reserved_domains', { domain: '*.ours.example' });
      const theirs = await createUser(gatehouse, 'admin', await createAccount(gatehouse));
      await gatehouse.create('/reserved_domains', { domain: 'theirs.localhost' }, { token: theirs.token });
      const session = await library(await newToken(gatehouse));
      const listen = (name: string) => session.httpEndpoint().domain(name).listen(false);
      const message = (name: string) => ({ message: new RegExp(`"${name}" is not available.*ERR_NGROK_20092`, 's') });
      await assert.rejects(listen('edge.localhost'), message('edge.localhost'));
      await assert.rejects(listen('theirs.localhost'), message('theirs.localhost'));
      for (const name of ['nobodys.example', 'evil-localhost', 'a.evil-localhost'])
        await assert.rejects(listen(name), { errorCode: 'ERR_NGROK_20099' }, name);
      for (const name of ['*.nobodys.example', '*.a.localhost'])
        await assert.rejects(listen(name), { message: /wildcard .* is not reserved .* names one by one/ }, name);
      assert.equal((await listen('a.ours.example')).url(), 'https://a.ours.example');
      const stranger = await library(await newToken(gatehouse, {}, theirs.token));
      await assert.rejects(stranger.httpEndpoint().domain('a.ours.example').listen(false), message('a.ours.example'));
      const taken = await gatehouse.post('/edges/https', { hostports: ['a.ours.example:443'] });
      assert.equal(taken.status, 409);
    });

    test('a URL with more than scheme, host and port is refused with the part that is too much', async () => {
      const { agent } = await served().agent(await newToken(served().gatehouse));
      const bind = async (URL: string) => {
        const bound = await agent.call('bind', { Proto: 'https', ForwardsTo: 'localhost:1', Opts: { URL }, Extra: {} });
        return String(bound['Error'] ?? bound['URL']);
      };
      const parts = {
        'invalid@domain.com': 'user "invalid"',
        'a.localhost/b@c': 'path "b@c"',
        'a.localhost?q=1': 'query "q=1"',
      };
      for (const [rest, part] of Object.entries({ ...parts, 'a.localhost/#here': 'fragment "here"' }))
        assert.match(
          await bind(`https://${rest}`),
          new RegExp(`it has the ${RegExp.escape(part)}.*ERR_NGROK_9037$`, 's'),
        );
      assert.match(await bind('https://a b'), /ERR_NGROK_20096$/);
      assert.equal(await bind('https://slash.localhost/'), 'https://slash.localhost');
    });

    test('names of the installation are given to no agent, although they lie below the domain of agents', async () => {
      const { gatehouse, library } = served();
      const session = await library(await newToken(gatehouse));
      const listen = (name: string) => session.httpEndpoint().domain(name).listen(false);
      for (const name of ['desk.localhost', 'a.own.localhost'])
        await assert.rejects(listen(name), { errorCode: `ERR_NGROK_${nameOfInstallation.code}` }, name);
      assert.equal((await listen('own.localhost')).url(), 'https://own.localhost');
    });

    test('a TCP endpoint gets a free port, a reserved one or the one it asks for, and no other', async () => {
      const { gatehouse, library } = served();
      const session = await library(await newToken(gatehouse));
      const listen = (addr?: string) => {
        const endpoint = session.tcpEndpoint();
        return (addr === undefined ? endpoint : endpoint.remoteAddr(addr)).listen(false);
      };
      const given = await listen();
      assert.match(given.url() ?? '', /^tcp:\/\/localhost:1\d{4}$/);
      const { addr } = await gatehouse.create('/reserved_addrs', {});
      assert.equal((await listen(addr)).url(), `tcp://${addr}`);
      const theirs = await createUser(gatehouse, 'admin', await createAccount(gatehouse));
      const foreign = await gatehouse.create('/reserved_addrs', {}, { token: theirs.token });
      await assert.rejects(listen(foreign.addr), { errorCode: 'ERR_NGROK_20097' });
      await assert.rejects(listen('localhost:9'), { errorCode: 'ERR_NGROK_20096' });
      await assert.rejects(listen('tcp://localhost:9/path'), { errorCode: 'ERR_NGROK_9037' });
      const port = Number(new URL(given.url() ?? '').port);
      const edge = await gatehouse.post('/edges/tcp', { hostports: [`m:${port}`] });
      assert.equal(edge.status, 409);
    });

    test('labels are bound, and a group that they match shows the tunnel', async () => {
      const { gatehouse, library } = served();
      const session = await library(await newToken(gatehouse));
      const group = await gatehouse.create('/backends/tunnel_group', { labels: { app: 'shop' } });
      const listener = await session
        .labeledListener()
        .label('app', 'shop')
        .label('more', 'b')
        .listenAndForward('tcp://127.0.0.1:1');
      const shown = (await gatehouse.get(`/backends/tunnel_group/${group.id}`)).body.tunnels;
      assert.deepEqual(
        shown.map(({ id }: { id: string }) => id),
        [listener.id()],
      );
      const { body: tunnel } = await gatehouse.get(`/tunnels/${listener.id()}`);
      assert.deepEqual(tunnel.labels, { app: 'shop', more: 'b' });
      assert.equal(tunnel.backends[0].id, group.id);
      assert.equal(tunnel.public_url, undefined);
      assert.deepEqual((await gatehouse.get('/endpoints')).body.endpoints.filter(isEphemeral), []);
      await gatehouse.patch(`/backends/tunnel_group/${group.id}`, { labels: { app: 'other' } });
      assert.deepEqual((await gatehouse.get(`/backends/tunnel_group/${group.id}`)).body.tunnels, []);
    });

    test('the acl of a credential limits names, addresses and labels, and a refusal says what is allowed', async () => {
      const { gatehouse, library } = served();
      const acl = ['bind:*.ok.localhost', 'bind:app=*'];
      const credential = await gatehouse.create('/credentials', { acl });
      const session = await library(credential.token);
      await assert.rejects(session.httpEndpoint().domain('no.localhost').listen(false), {
        message: /may not bind no\.localhost.*bind:\*\.ok\.localhost, bind:app=\*.*ERR_NGROK_20095/s,
      });
      await assert.rejects(session.httpEndpoint().listen(false), { errorCode: 'ERR_NGROK_20095' });
      await assert.rejects(session.tcpEndpoint().listen(false), { errorCode: 'ERR_NGROK_20095' });
      await assert.rejects(session.labeledListener().label('other', 'a').listen(false), {
        errorCode: 'ERR_NGROK_20095',
      });
      await session.labeledListener().label('app', 'a').listen(false);
      const listener = await session.httpEndpoint().domain('a.ok.localhost').listen(false);
      await gatehouse.patch(`/credentials/${credential.id}`, { acl: ['bind:app=*'] });
      const gone = async () => (await gatehouse.get(`/tunnels/${listener.id()}`)).status === 404;
      await until(gone, 'stopped by the narrower acl');
    });

    test('a session that reconnects has its names, ports and labels again at once', async () => {
      const { gatehouse, agent } = served();
      const token = await newToken(gatehouse);
      const first = await agent(token);
      const named = await first.agent.bind('');
      const labelled = await first.agent.call('startTunnelWithLabel', { Labels: { a: 'b' }, ForwardsTo: 'x' });
      const again = await agent(token, first.known);
      assert.equal(again.known.clientId, first.known.clientId);
      // The form of the answer is that of `bindResponse`.
      const { Id, Extra, URL: url } = named as { Id: string; Extra: { Token: string }; URL: string };
      const rebound = await again.agent.bind('', { id: Id, extra: { Token: Extra.Token } });
      assert.deepEqual([rebound['Id'], rebound['URL']], [Id, url]);
      const relabelled = await again.agent.call('startTunnelWithLabel', { Labels: { a: 'b' }, ForwardsTo: 'x' });
      assert.equal(relabelled['Id'], labelled['Id']);
      await first.agent.ended;
      const { body } = await gatehouse.get('/tunnel_sessions');
      assert.deepEqual(
        body.tunnel_sessions.map(({ id }: { id: string }) => id),
        [again.sessionId],
      );
      assert.equal((await gatehouse.get('/tunnels')).body.tunnels.length, 2);
    });

    test('a name stays with its account after a disconnect: its own agents get it, others do not', async () => {
      const { gatehouse, agent } = served();
      const theirs = await createUser(gatehouse, 'admin', await createAccount(gatehouse));
      const first = await agent(await newToken(gatehouse));
      await first.agent.bind('kept.localhost');
      first.agent.socket.destroy();
      await until(async () => (await gatehouse.get('/tunnels')).body.tunnels.length === 0, 'disconnected');
      const stranger = await agent(await newToken(gatehouse, {}, theirs.token));
      assert.match(String((await stranger.agent.bind('kept.localhost'))['Error']), /ERR_NGROK_20092$/);
      const another = await agent(await newToken(gatehouse));
      assert.equal((await another.agent.bind('kept.localhost'))['URL'], 'https://kept.localhost');
      stranger.agent.socket.destroy();
    });

    test('a patch changes what is shown, and an unbind may come again', async () => {
      const { gatehouse, agent } = served();
      const { agent: one } = await agent(await newToken(gatehouse));
      const { Id } = await one.bind('patched.localhost');
      await one.call('patchTunnelState', { TunnelId: Id, Metadata: 'new', Description: 'also' });
      assert.equal((await gatehouse.get(`/tunnels/${String(Id)}`)).body.metadata, 'new');
      assert.equal((await gatehouse.get(`/endpoints/${String(Id).replace('tn', 'ep')}`)).body.description, 'also');
      assert.deepEqual(await one.call('unbind', { Id }), {});
      assert.deepEqual(await one.call('unbind', { Id }), {});
      await until(async () => (await gatehouse.get(`/tunnels/${String(Id)}`)).status === 404, 'unbound');
    });

    test('endpoints of edges and agents are listed together, newest first, page by page', async () => {
      const { gatehouse, agent } = served();
      const { agent: one } = await agent(await newToken(gatehouse));
      const edge = await gatehouse.create('/edges/https', { hostports: ['p1.test:443', 'p2.test:443', 'p3.test:443'] });
      const { Id } = await one.bind('newest.localhost');
      const all = (await gatehouse.get('/endpoints')).body.endpoints;
      assert.equal(all[0].tunnel.id, Id);
      const urls = all.slice(1, 4).map(({ public_url }: { public_url: string }) => public_url);
      assert.deepEqual(urls.toSorted(), ['https://p1.test', 'https://p2.test', 'https://p3.test']);
      assert.equal(all[1].edge.id, edge.id);
      const paged: string[] = [];
      for (let uri = '/endpoints?limit=1'; uri !== '';) {
        const { body } = await gatehouse.get(uri);
        paged.push(...body.endpoints.map(({ id }: { id: string }) => id));
        uri = body.next_page_uri ?? '';
      }
      assert.deepEqual(
        paged,
        all.map(({ id }: { id: string }) => id),
      );
      assert.deepEqual((await gatehouse.get(`/endpoints/${all[2].id}`)).body, all[2]);
    });
  },
  { tcpPorts: '17000-17099', ownNames: 'desk.localhost,*.own.localhost' },
);

function isEphemeral({ type }: { readonly type: string }): boolean {
  return type === 'ephemeral';
}

onAnyDatabase('endpoints without TLS', (newDatabase) => {
  const serve = async () => serveAgents(await newDatabase(), { httpListen: `127.0.0.1:${await freePort()}` });

  const visit = async (url: string, host = new URL(url).host) => {
    const sent = request({ host: '127.0.0.1', port: new URL(url).port, path: '/x', headers: { host } });
    const [response] = await once(sent.end(), 'response');
    return [response.statusCode, response.headers.location, await text(response)];
  };

  test('an agent that asks for http is served at the plain port, one that asks for https is not', async () => {
    const { gatehouse, library, cleanUp } = await serve();
    await using owner = new AsyncDisposableStack();
    owner.use(gatehouse);
    owner.defer(cleanUp);
    const upstream = createServer((asked, response) => response.end(asked.headers['x-forwarded-proto']));
    upstream.listen(0, '127.0.0.1');
    await once(upstream, 'listening');
    owner.defer(() => void upstream.close());
    // A server that listens on a port has an address of this form.
    const to = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`;
    const session = await library(await newToken(gatehouse));
    const open = (name: string, scheme: string) =>
      session.httpEndpoint().domain(name).scheme(scheme).listenAndForward(to);
    const plain = await open('plain.localhost', 'http');
    const secure = await open('secure.localhost', 'https');
    const url = plain.url() ?? '';
    assert.match(url, /^http:\/\/plain\.localhost:\d+$/);
    assert.match(secure.url() ?? '', /^https:\/\/secure\.localhost/);
    assert.deepEqual(await visit(url), [200, undefined, 'http']);
    assert.equal((await visit(url, `secure.localhost:${new URL(url).port}`))[0], 308);
    const { body } = await gatehouse.get(`/endpoints/${plain.id().replace('tn_', 'ep_')}`);
    assert.deepEqual([body.proto, body.scheme, body.url, body.hostport], ['http', 'http', url, new URL(url).host]);
  });

  test('agents that share a name ask for the same scheme', async () => {
    const { gatehouse, library, cleanUp } = await serve();
    await using owner = new AsyncDisposableStack();
    owner.use(gatehouse);
    owner.defer(cleanUp);
    const [one, other] = [await library(await newToken(gatehouse)), await library(await newToken(gatehouse))];
    const open = (session: typeof one, scheme: string) =>
      session.httpEndpoint().domain('shared.localhost').scheme(scheme).poolingEnabled(true).listen(false);
    await open(one, 'https');
    await assert.rejects(open(other, 'http'), { message: /http or https.*ERR_NGROK_20094/s });
    await open(other, 'https');
  });
});
