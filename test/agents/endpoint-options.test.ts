import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent } from 'node:https';
import { test } from 'node:test';

import { WebSocket } from 'ws';

import { tooManyWrongPasswords } from '../../src/errors/shared.ts';
import { until } from '../e2e/gateway/support/until.ts';
import { ClientAuthority } from '../support/client-certificates.ts';
import { httpProgram, rawProgram, visit, visitTcp } from './support/endpoint-visitors.ts';
import { newToken, onServed } from './support/served-agents.ts';

const authority = new ClientAuthority('visitors');
const refusedByEndpoint = { status: 403, code: 'ERR_NGROK_3203' };
const refusedByAccount = { status: 403, code: 'ERR_NGROK_3205' };

function outcome({ status, code }: { readonly status: number; readonly code: string | undefined }) {
  return { status, code };
}

/** Options that the unmodified library of the hosted service asks for: a visitor sees each of them, or the bind is refused. */
onServed(
  'options of endpoints',
  (served) => {
    async function connect() {
      const { gatehouse, library } = served();
      return library(await newToken(gatehouse));
    }

    test('IPRestriction admits those it allows, and none that it denies', async (t) => {
      const program = await httpProgram(t, (_request, response) => response.end('in'));
      const endpoint = (await connect()).httpEndpoint().allowCidr('127.0.0.0/30').denyCidr('127.0.0.2/32');
      const url = (await endpoint.listenAndForward(program)).url();
      assert.equal((await visit(served(), url)).body, 'in');
      assert.deepEqual(outcome(await visit(served(), url, { from: '127.0.0.2' })), refusedByEndpoint);
      assert.deepEqual(outcome(await visit(served(), url, { from: '127.0.0.9' })), refusedByEndpoint);
    });

    test('IPRestriction that only denies admits all others', async (t) => {
      const program = await httpProgram(t, (_request, response) => response.end('in'));
      const endpoint = (await connect()).httpEndpoint().denyCidr('127.0.0.2/32');
      const url = (await endpoint.listenAndForward(program)).url();
      assert.equal((await visit(served(), url, { from: '127.0.0.9' })).status, 200);
      assert.deepEqual(outcome(await visit(served(), url, { from: '127.0.0.2' })), refusedByEndpoint);
    });

    test('IPRestriction of a TCP endpoint resets those it refuses', async (t) => {
      const port = await rawProgram(t, (socket) => socket.pipe(socket));
      const endpoint = (await connect()).tcpEndpoint().denyCidr('127.0.0.2/32');
      const url = (await endpoint.listenAndForward(`tcp://127.0.0.1:${port}`)).url();
      assert.equal(await visitTcp(url, 'hello'), 'hello');
      assert.equal(await visitTcp(url, 'hello', '127.0.0.2'), undefined);
    });

    test('IPRestriction does not widen what the account admits to its endpoints', async (t) => {
      const { gatehouse } = served();
      const program = await httpProgram(t, (_request, response) => response.end('in'));
      const session = await connect();
      const http = await session.httpEndpoint().allowCidr('0.0.0.0/0').listenAndForward(program);
      const port = await rawProgram(t, (socket) => socket.pipe(socket));
      const tcp = await session.tcpEndpoint().allowCidr('0.0.0.0/0').listenAndForward(`tcp://127.0.0.1:${port}`);
      const policy = await gatehouse.create('/ip_policies', {});
      await gatehouse.create('/ip_policy_rules', { action: 'allow', cidr: '127.0.0.9/32', ip_policy_id: policy.id });
      const body = { type: 'endpoints', enforced: true, ip_policy_ids: [policy.id] };
      const { id } = await gatehouse.create('/ip_restrictions', body);
      assert.deepEqual(outcome(await visit(served(), http.url())), refusedByAccount);
      assert.equal(await visitTcp(tcp.url(), 'hello'), undefined);
      assert.equal((await visit(served(), http.url(), { from: '127.0.0.9' })).status, 200);
      assert.equal(await visitTcp(tcp.url(), 'hello', '127.0.0.9'), 'hello');
      await gatehouse.delete(`/ip_restrictions/${id}`);
    });

    test('POST /ip_check tells what an endpoint asks of visitors: network, certificate and policy', async (t) => {
      const { gatehouse } = served();
      const program = await httpProgram(t, (_request, response) => response.end('in'));
      const session = await connect();
      const check = async (url: string | null, ip: string) => {
        const endpoints = (await gatehouse.get('/endpoints')).body.endpoints as { id: string; host: string }[];
        const edge_id = endpoints.find(({ host }) => url !== null && host === new URL(url).hostname)?.id;
        const { status, body } = await gatehouse.post('/ip_check', { ip, edge_id });
        assert.equal(status, 200, body.msg);
        return [body.allowed, body.further_checks.map(({ asks }: { asks: string }) => asks)];
      };
      const guarded = session.httpEndpoint().allowCidr('127.0.0.0/30').basicAuth('ada', 'long enough');
      const url = (await guarded.listenAndForward(program)).url();
      assert.deepEqual(await check(url, '198.51.100.1'), [false, ['needs a password']]);
      assert.deepEqual(await check(url, '127.0.0.1'), [true, ['needs a password']]);
      const open = (await session.httpEndpoint().listenAndForward(program)).url();
      assert.deepEqual(await check(open, '198.51.100.1'), [true, []]);
      const value = JSON.stringify({
        on_http_request: [{ expressions: ["req.method == 'PUT'"], actions: [{ type: 'deny' }] }],
      });
      const ruled = (await session.httpEndpoint().trafficPolicy(value).listenAndForward(program)).url();
      assert.deepEqual(await check(ruled, '198.51.100.1'), [
        true,
        ['must satisfy the rules of the traffic policy (deny)'],
      ]);
      const certified = (
        await session.httpEndpoint().mutualTlsca(Buffer.from(authority.pem)).listenAndForward(program)
      ).url();
      assert.deepEqual((await check(certified, '198.51.100.1'))[0], true);
    });

    test('BasicAuth asks visitors for a name and a password', async (t) => {
      const program = await httpProgram(t, (_request, response) => response.end('in'));
      const endpoint = (await connect()).httpEndpoint().basicAuth('ada', 'a long password');
      const url = (await endpoint.listenAndForward(program)).url();
      const asked = await visit(served(), url);
      assert.deepEqual(outcome(asked), { status: 401, code: 'ERR_NGROK_20151' });
      assert.match(String(asked.headers['www-authenticate']), /^Basic /);
      const authorization = (password: string) => ({
        authorization: `Basic ${Buffer.from(`ada:${password}`).toString('base64')}`,
      });
      assert.equal((await visit(served(), url, { headers: authorization('a wrong password') })).status, 401);
      assert.equal((await visit(served(), url, { headers: authorization('a long password') })).body, 'in');
    });

    test('BasicAuth refuses an address that guesses, and says so in the log', async (t) => {
      const program = await httpProgram(t, (_request, response) => response.end('in'));
      const url = (
        await (await connect()).httpEndpoint().basicAuth('ada', 'a long password').listenAndForward(program)
      ).url();
      const ask = (password: string, from?: string) => {
        const authorization = `Basic ${Buffer.from(`ada:${password}`).toString('base64')}`;
        return visit(served(), url, { headers: { authorization }, ...(from !== undefined && { from }) });
      };
      for (let count = 0; count < 20; count++) assert.equal((await ask(`guess ${count}`)).status, 401);
      const refused = await ask('a long password');
      assert.deepEqual(outcome(refused), { status: 429, code: `ERR_NGROK_${tooManyWrongPasswords.code}` });
      assert.ok(Number(refused.headers['retry-after']) >= 1);
      assert.equal((await ask('a long password', '127.0.0.9')).body, 'in');
      const { logLines } = served().gatehouse;
      await until(() => logLines.some((line) => line.includes('too many wrong passwords')), 'it is logged');
    });

    test('agents share an endpoint with BasicAuth if they ask for the same credentials', async (t) => {
      const program = await httpProgram(t, (_request, response) => response.end('in'));
      const listen = async (password: string) =>
        (await connect())
          .httpEndpoint()
          .domain('shared.localhost')
          .poolingEnabled(true)
          .basicAuth('ada', password)
          .listenAndForward(program);
      await listen('a long password');
      await assert.rejects(listen('another password'), { message: /BasicAuth\..*ERR_NGROK_20094/s });
      assert.equal((await listen('a long password')).url(), 'https://shared.localhost');
    });

    test('CircuitBreaker spares a program that fails', async (t) => {
      let requests = 0;
      const program = await httpProgram(t, (_request, response) => {
        requests++;
        response.writeHead(500).end();
      });
      const endpoint = (await connect()).httpEndpoint().circuitBreaker(0.5);
      const url = (await endpoint.listenAndForward(program)).url();
      for (let round = 0; round < 10; round++) assert.equal((await visit(served(), url)).status, 500);
      assert.deepEqual(outcome(await visit(served(), url)), { status: 503, code: 'ERR_NGROK_20153' });
      assert.equal(requests, 10);
    });

    test('UserAgentFilter refuses programs by their name', async (t) => {
      const program = await httpProgram(t, (_request, response) => response.end('in'));
      const endpoint = (await connect()).httpEndpoint().allowUserAgent('^good/').denyUserAgent('evil');
      const url = (await endpoint.listenAndForward(program)).url();
      const by = (agent: string) => visit(served(), url, { headers: { 'user-agent': agent } });
      assert.equal((await by('good/1')).status, 200);
      assert.deepEqual(outcome(await by('good/1 evil')), { status: 403, code: 'ERR_NGROK_20152' });
      assert.equal((await by('other')).status, 403);
    });

    test('a pattern that could take too long is refused', async () => {
      const endpoint = (await connect()).httpEndpoint().allowUserAgent('(a)\\1');
      await assert.rejects(endpoint.listen(false), { errorCode: 'ERR_NGROK_20155' });
    });

    for (const version of ['1', '2'] as const) {
      test(`ProxyProto ${version} tells the program who the visitor is, by HTTP and by TCP`, async (t) => {
        const starts: string[] = [];
        const port = await rawProgram(t, (socket) => {
          socket.once('data', (chunk) => {
            starts.push(chunk.toString('latin1'));
            socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nin');
          });
        });
        const session = await connect();
        const http = await session.httpEndpoint().proxyProto(version).listenAndForward(`http://127.0.0.1:${port}`);
        const tcp = await session.tcpEndpoint().proxyProto(version).listenAndForward(`tcp://127.0.0.1:${port}`);
        assert.equal((await visit(served(), http.url(), { from: '127.0.0.3' })).body, 'in');
        assert.match((await visitTcp(tcp.url(), 'hello', '127.0.0.3')) ?? '', /in$/);
        const header = {
          1: 'PROXY TCP4 127.0.0.3 127.0.0.1 ',
          2: '\r\n\r\n\0\r\nQUIT\n!\u0011\0\f\u007f\0\0\u0003\u007f\0\0\u0001',
        }[version];
        assert.deepEqual(
          starts.map((start) => start.slice(0, header.length)),
          [header, header],
        );
      });
    }

    test('agents share an endpoint only if they ask for the same ProxyProto', async () => {
      const listen = async (version: string) => {
        const endpoint = (await connect()).httpEndpoint().domain('proto.localhost').poolingEnabled(true);
        return (version === '' ? endpoint : endpoint.proxyProto(version)).listen(false);
      };
      await listen('1');
      await assert.rejects(listen(''), { message: /ProxyProto\..*ERR_NGROK_20094/s });
      await assert.rejects(listen('2'), { message: /ProxyProto\..*ERR_NGROK_20094/s });
      await listen('1');
    });

    test('MutualTLSCA admits visitors with a certificate of its authority', async (t) => {
      const program = await httpProgram(t, (_request, response) => response.end('in'));
      const endpoint = (await connect()).httpEndpoint().mutualTlsca(Buffer.from(authority.pem));
      const url = (await endpoint.listenAndForward(program)).url();
      assert.equal((await visit(served(), url, { pair: authority.sign('ada') })).body, 'in');
      assert.deepEqual(outcome(await visit(served(), url)), { status: 403, code: 'ERR_NGROK_20181' });
      const refused = await visit(served(), url, { pair: new ClientAuthority('foreign').sign('eve') });
      assert.deepEqual(outcome(refused), { status: 403, code: 'ERR_NGROK_20182' });
      const expired = await visit(served(), url, { pair: authority.sign('late', { days: -1 }) });
      assert.deepEqual(outcome(expired), { status: 403, code: 'ERR_NGROK_20182' });
      const isLogged = (line: string) => line.includes('"error_code":20182') && line.includes('CERT_HAS_EXPIRED');
      await until(() => served().gatehouse.logLines.some(isLogged), 'a reason in the access log');
    });

    test('MutualTLSCA without an authority is refused, and pools must have the same', async () => {
      const listen = async (pem: string) =>
        (await connect())
          .httpEndpoint()
          .domain('mutual.localhost')
          .poolingEnabled(true)
          .mutualTlsca(Buffer.from(pem))
          .listen(false);
      await assert.rejects(listen(authority.sign('leaf').cert), { errorCode: 'ERR_NGROK_20183' });
      await listen(authority.pem);
      await assert.rejects(listen(new ClientAuthority('other').pem), { message: /MutualTLSCA\..*ERR_NGROK_20094/s });
      await listen(authority.pem);
    });

    test('WebsocketTCPConverter takes the bytes of WebSockets to a program without HTTP', async (t) => {
      const port = await rawProgram(t, (socket) => socket.pipe(socket));
      const endpoint = (await connect()).httpEndpoint().websocketTcpConversion();
      const url = (await endpoint.listenAndForward(`tcp://127.0.0.1:${port}`)).url() ?? '';
      const { gatehouse, ca } = served();
      const { hostname } = new URL(url);
      const agent = new Agent({ host: '127.0.0.1', servername: hostname, ca });
      const address = `wss://${hostname}:${gatehouse.httpsPort}`;
      const client = new WebSocket(address, { agent, headers: { host: hostname } });
      t.after(() => client.terminate());
      await once(client, 'open');
      client.send('hello');
      // The event of a client without another setting has a buffer.
      const [message] = (await once(client, 'message')) as [Buffer];
      assert.equal(message.toString(), 'hello');
      assert.deepEqual(outcome(await visit(served(), url)), { status: 400, code: 'ERR_NGROK_20185' });
    });

    test('Compression compresses answers', async (t) => {
      const program = await httpProgram(t, (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/plain' }).end('x'.repeat(5000));
      });
      const listener = await (await connect()).httpEndpoint().compression().listenAndForward(program);
      const { headers } = await visit(served(), listener.url(), { headers: { 'accept-encoding': 'gzip' } });
      assert.equal(headers['content-encoding'], 'gzip');
    });

    test('RequestHeaders and ResponseHeaders are added and removed', async (t) => {
      const program = await httpProgram(t, (request, response) => {
        response.writeHead(200, { 'x-internal': 'secret' });
        response.end(JSON.stringify([request.headers['x-added'], request.headers['x-dropped']]));
      });
      const endpoint = (await connect())
        .httpEndpoint()
        .requestHeader('X-Added', 'by the gateway')
        .removeRequestHeader('X-Dropped')
        .responseHeader('X-Shown', 'yes')
        .removeResponseHeader('X-Internal');
      const url = (await endpoint.listenAndForward(program)).url();
      const { body, headers } = await visit(served(), url, { headers: { 'x-dropped': 'by the visitor' } });
      assert.equal(body, '["by the gateway",null]');
      assert.deepEqual([headers['x-shown'], headers['x-internal']], ['yes', undefined]);
    });

    test('what is not carried out is refused by its name, and nothing is opened', async () => {
      const { gatehouse } = served();
      const session = await connect();
      const http = () => session.httpEndpoint();
      const refusals = {
        OAuth: http().oauth('google'),
        OIDC: http().oidc('https://issuer.example', 'id', 'secret'),
        WebhookVerification: http().webhookVerification('slack', 'secret'),
        'ForwardsProto "http2"': http().appProtocol('http2'),
        'Bindings "kubernetes"': http().binding('kubernetes'),
      };
      for (const [name, endpoint] of Object.entries(refusals)) {
        await assert.rejects(endpoint.listen(false), {
          errorCode: 'ERR_NGROK_20131',
          message: new RegExp(`Not offered here: ${name}\\.`),
        });
      }
      await assert.rejects(session.labeledListener().label('a', 'b').appProtocol('http2').listen(false), /http2/);
      assert.deepEqual((await gatehouse.get('/tunnels')).body.tunnels, []);
    });

    test('options that the library does not send are refused by their names too', async () => {
      const { gatehouse, agent } = served();
      const { agent: one } = await agent(await newToken(gatehouse));
      const hashed = { username: 'ada', hashed_password: Buffer.from('$2b$10$x').toString('base64') };
      const asked = {
        'BasicAuth with a hashed password': { BasicAuth: { credentials: [hashed] } },
        'IPRestriction without a CIDR': { IPRestriction: {} },
        'UserAgentFilter without a pattern': { UserAgentFilter: {} },
        'RequestHeaders that adds one header more than once': { RequestHeaders: { add: ['a:1', 'a:2'] } },
        SAML: { SAML: { idp_metadata_url: 'https://idp.example' } },
      };
      for (const [name, opts] of Object.entries(asked)) {
        const { Error: text } = await one.bind('', { opts });
        assert.match(String(text), new RegExp(`Not offered here: ${name}\\..*ERR_NGROK_20131$`, 's'));
      }
      assert.deepEqual((await gatehouse.get('/tunnels')).body.tunnels, []);
    });

    test('an endpoint that is opened anew, with other options, has no others', async (t) => {
      const { gatehouse } = served();
      const program = await httpProgram(t, (_request, response) => response.end('in'));
      const session = await connect();
      const endpoint = () => session.httpEndpoint().domain('anew.localhost');
      const first = await endpoint().basicAuth('ada', 'a long password').listenAndForward(program);
      assert.equal((await visit(served(), first.url())).status, 401);
      await first.close();
      await until(async () => (await gatehouse.get('/tunnels')).body.tunnels.length === 0, 'closed');
      const second = await endpoint().denyCidr('127.0.0.2/32').listenAndForward(program);
      assert.equal((await visit(served(), second.url())).status, 200);
      assert.equal((await visit(served(), second.url(), { from: '127.0.0.2' })).status, 403);
    });
  },
  { tcpPorts: '17100-17199' },
);
