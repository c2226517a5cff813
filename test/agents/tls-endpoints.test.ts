import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';

import { until } from '../e2e/gateway/support/until.ts';
import { makeCertificate } from '../gateway/support/https-certificate.ts';
import { ClientAuthority } from '../support/client-certificates.ts';
import { createAccount, createUser } from '../support/people.ts';
import { rawProgram, say, tlsProgram, visit, visitTls } from './support/endpoint-visitors.ts';
import { newToken, onServed } from './support/served-agents.ts';

/** The certificate of the program behind the agent: nobody else has its key. */
const authority = new ClientAuthority('visitors');
const own = makeCertificate('DNS:tls.localhost');

/** Endpoints of TLS that the unmodified library of the hosted service opens. */
onServed(
  'TLS endpoints',
  (served) => {
    async function connect() {
      const { gatehouse, library } = served();
      return library(await newToken(gatehouse));
    }

    /** Says something to the program, which it trusts by its certificate alone. */
    function sayTo(url: string | null, from?: string): Promise<string | undefined> {
      return say(visitTls(served(), url, { ca: own.certificate, ...(from !== undefined && { from }) }), 'hello');
    }

    test('connections are passed on untouched by their server name, to a program with a certificate of its own', async (t) => {
      const { gatehouse } = served();
      const session = await connect();
      const listener = await session
        .tlsEndpoint()
        .domain('tls.localhost')
        .listenAndForward(await tlsProgram(t, own));
      assert.equal(listener.url(), 'tls://tls.localhost:443');
      assert.equal(await sayTo(listener.url()), 'hello');
      const { body: tunnel } = await gatehouse.get(`/tunnels/${listener.id()}`);
      assert.deepEqual([tunnel.proto, tunnel.public_url], ['tls', 'tls://tls.localhost:443']);
      const { body: endpoint } = await gatehouse.get(`/endpoints/${tunnel.endpoint.id}`);
      assert.deepEqual([endpoint.proto, endpoint.hostport, endpoint.port], ['tls', 'tls.localhost:443', 443]);
      const logged = () => gatehouse.logLines.filter((line) => line.includes(tunnel.endpoint.id));
      await until(() => logged().some((line) => line.includes('"bytes_in":')), 'a line in the access log');
      const others = await session.httpEndpoint().domain('http.localhost').listenAndForward('http://127.0.0.1:1');
      assert.equal((await visit(served(), others.url())).status, 502, 'other names are decrypted here');
    });

    test('an endpoint without a name is given one, the same again after a reconnect', async () => {
      const { gatehouse, agent } = served();
      const token = await newToken(gatehouse);
      const first = await agent(token);
      const body = { Id: '', Proto: 'tls', ForwardsTo: 'x', Opts: {}, Extra: {} };
      // The form of the answer is that of `bindResponse`.
      const bound = (await first.agent.call('bind', body)) as { Id: string; URL: string; Extra: { Token: string } };
      assert.match(bound.URL, /^tls:\/\/[a-z]+-[a-z]+-\d+\.localhost:443$/);
      first.agent.socket.destroy();
      const again = await agent(token, first.known);
      const rebound = await again.agent.call('bind', { ...body, Id: bound.Id, Extra: { Token: bound.Extra.Token } });
      assert.deepEqual([rebound['Id'], rebound['URL']], [bound.Id, bound.URL]);
    });

    test('IPRestriction and the restrictions of the account decide', async (t) => {
      const { gatehouse } = served();
      const endpoint = (await connect())
        .tlsEndpoint()
        .domain('tls.localhost')
        .allowCidr('127.0.0.0/8')
        .denyCidr('127.0.0.2/32');
      const url = (await endpoint.listenAndForward(await tlsProgram(t, own))).url();
      assert.equal(await sayTo(url), 'hello');
      assert.equal(await sayTo(url, '127.0.0.2'), undefined);
      const policy = await gatehouse.create('/ip_policies', {});
      await gatehouse.create('/ip_policy_rules', { action: 'allow', cidr: '127.0.0.9/32', ip_policy_id: policy.id });
      const body = { type: 'endpoints', enforced: true, ip_policy_ids: [policy.id] };
      const { id } = await gatehouse.create('/ip_restrictions', body);
      assert.equal(await sayTo(url), undefined);
      assert.equal(await sayTo(url, '127.0.0.9'), 'hello');
      await gatehouse.delete(`/ip_restrictions/${id}`);
    });

    test('ProxyProto tells the program who the visitor is, in front of the TLS that it sees', async (t) => {
      const { promise: start, resolve } = Promise.withResolvers<string>();
      const port = await rawProgram(t, (socket) => {
        let received = '';
        socket.on('data', (chunk) => {
          received += chunk.toString('latin1');
          if (received.includes('\n\x16')) resolve(received);
        });
      });
      const listener = await (
        await connect()
      )
        .tlsEndpoint()
        .proxyProto('1')
        .listenAndForward(`tls://127.0.0.1:${port}`);
      const visitor = visitTls(served(), listener.url(), { from: '127.0.0.3' });
      t.after(() => visitor.destroy());
      const [header, hello] = (await start).split('\r\n');
      assert.match(header ?? '', /^PROXY TCP4 127\.0\.0\.3 127\.0\.0\.1 \d+ \d+$/);
      assert.equal(hello?.charCodeAt(0), 22, 'a handshake of TLS');
    });

    test('TLSTermination ends TLS here, with the pair of the agent or with a certificate of the server', async (t) => {
      const port = await rawProgram(t, (socket) => socket.pipe(socket));
      const endpoint = () => connect().then((session) => session.tlsEndpoint());
      const withPair = (await endpoint())
        .domain('tls.localhost')
        .termination(Buffer.from(own.certificate), Buffer.from(own.key));
      const listener = await withPair.listenAndForward(`tcp://127.0.0.1:${port}`);
      const visitor = visitTls(served(), listener.url(), { ca: own.certificate });
      assert.equal(await say(visitor, 'hello'), 'hello');
      assert.equal(visitor.authorized, true);
      const { gatehouse, ca, agent } = served();
      const one = (await agent(await newToken(gatehouse))).agent;
      const opts = { Domain: 'served.localhost', TLSTermination: {} };
      const bound = await one.call('bind', { Id: '', Proto: 'tls', ForwardsTo: 'x', Opts: opts, Extra: {} });
      assert.equal(bound['Error'], undefined);
      const shown = visitTls(served(), 'tls://served.localhost', { ca });
      await once(shown, 'secureConnect');
      assert.equal(shown.authorized, true);
      shown.destroy();
    });

    test('MutualTLSAtEdge asks visitors for a certificate where TLS ends here, and is refused elsewhere', async (t) => {
      const port = await rawProgram(t, (socket) => socket.pipe(socket));
      const session = await connect();
      const asking = () => session.tlsEndpoint().domain('tls.localhost').mutualTlsca(Buffer.from(authority.pem));
      await assert.rejects(asking().listen(false), {
        errorCode: 'ERR_NGROK_20131',
        message: /MutualTLSAtEdge without TLSTermination/,
      });
      const terminated = asking().termination(Buffer.from(own.certificate), Buffer.from(own.key));
      const url = (await terminated.listenAndForward(`tcp://127.0.0.1:${port}`)).url();
      const by = (pair: object) => say(visitTls(served(), url, { ca: own.certificate, ...pair }), 'hello');
      assert.equal(await by(authority.sign('ada')), 'hello');
      assert.notEqual(await by({}), 'hello');
      assert.notEqual(await by(new ClientAuthority('foreign').sign('eve')), 'hello');
    });

    test('a key that does not fit is refused, and pools must have the same certificate', async () => {
      const other = makeCertificate('DNS:tls.localhost');
      const open = async (cert: string, key: string) =>
        (await connect())
          .tlsEndpoint()
          .domain('tls.localhost')
          .poolingEnabled(true)
          .termination(Buffer.from(cert), Buffer.from(key))
          .listen(false);
      await assert.rejects(open(own.certificate, other.key), (error: Error) => !error.message.includes('PRIVATE KEY'));
      await open(own.certificate, own.key);
      await assert.rejects(open(other.certificate, other.key), { message: /TLSTermination\..*ERR_NGROK_20094/s });
      await open(own.certificate, own.key);
    });

    test('the key of an agent is kept sealed, and not shown', async () => {
      const { gatehouse } = served();
      const endpoint = (await connect()).tlsEndpoint().domain('tls.localhost');
      await endpoint.termination(Buffer.from(own.certificate), Buffer.from(own.key)).listen(false);
      const rows = await gatehouse.app.context.store.queries.all('SELECT document FROM tunnel_claims');
      const secret = own.key.split('\n')[1] ?? assert.fail();
      assert.ok(rows.length > 0);
      assert.ok(!JSON.stringify(rows).includes(secret));
      for (const path of ['/tunnels', '/endpoints', '/tunnel_sessions']) {
        assert.ok(!JSON.stringify((await gatehouse.get(path)).body).includes(secret));
      }
      assert.ok(!gatehouse.logLines.some((line) => line.includes(secret)));
    });

    test('a name has one kind of endpoint, and those of edges and other accounts are refused', async () => {
      const { gatehouse, library } = served();
      const session = await connect();
      await session.httpEndpoint().domain('kind.localhost').poolingEnabled(true).listen(false);
      const endpoint = (name: string) => session.tlsEndpoint().domain(name).poolingEnabled(true);
      await assert.rejects(endpoint('kind.localhost').listen(false), { errorCode: 'ERR_NGROK_334' });
      await gatehouse.create('/edges/https', { hostports: ['edge.localhost:443'] });
      await assert.rejects(endpoint('edge.localhost').listen(false), { errorCode: 'ERR_NGROK_20092' });
      await assert.rejects(endpoint('nobodys.example').listen(false), { errorCode: 'ERR_NGROK_20099' });
      await endpoint('taken.localhost').listen(false);
      const theirs = await createUser(gatehouse, 'admin', await createAccount(gatehouse));
      const stranger = await library(await newToken(gatehouse, {}, theirs.token));
      const same = stranger.tlsEndpoint().domain('taken.localhost').poolingEnabled(true);
      await assert.rejects(same.listen(false), { errorCode: 'ERR_NGROK_20092' });
      assert.equal((await gatehouse.post('/edges/https', { hostports: ['taken.localhost:443'] })).status, 409);
    });

    test('a credential whose acl does not have the name may not bind it', async () => {
      const { gatehouse, library } = served();
      const session = await library(await newToken(gatehouse, { acl: ['bind:*.ok.localhost'] }));
      await assert.rejects(session.tlsEndpoint().domain('no.localhost').listen(false), {
        errorCode: 'ERR_NGROK_20095',
      });
      await session.tlsEndpoint().domain('a.ok.localhost').listen(false);
    });

    test('an open connection ends with its endpoint', async (t) => {
      const listener = await (
        await connect()
      )
        .tlsEndpoint()
        .domain('tls.localhost')
        .listenAndForward(await tlsProgram(t, own));
      const visitor = visitTls(served(), listener.url(), { ca: own.certificate });
      await once(visitor, 'secureConnect');
      const closed = new Promise((resolve) => visitor.on('close', resolve));
      await listener.close();
      await closed;
    });
  },
  { tcpPorts: '17200-17299', secretKey: 'the-key-that-seals-private-keys-0123456789' },
);

onServed(
  'TLS endpoints without a listener of HTTPS',
  (served) => {
    test('they are refused, as those of HTTP are', async () => {
      const { gatehouse, library } = served();
      const session = await library(await newToken(gatehouse));
      await assert.rejects(session.tlsEndpoint().listen(false), {
        message: /GATEHOUSE_HTTPS_LISTEN is "off".*ERR_NGROK_20093/s,
      });
    });
  },
  { httpsListen: 'off' },
);
