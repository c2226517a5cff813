import assert from 'node:assert/strict';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { after, before, suite, test } from 'node:test';
import { connect as connectTls } from 'node:tls';

import { appHost, createAppEdge, createPolicy } from './support/app-edge.ts';
import type { AppEdge } from './support/app-edge.ts';
import { Program } from './support/program.ts';
import { proxyV1, proxyV2, proxyV2Local } from './support/proxy-header.ts';
import { newSqlite } from '../../support/scratch.ts';
import { Site } from './support/site.ts';
import { startUpstream } from './support/upstream.ts';
import type { Upstream } from './support/upstream.ts';

const proxy = '127.0.0.9';
const stranger = '127.0.0.2';
const request = `GET / HTTP/1.1\r\nHost: ${appHost}\r\nConnection: close\r\n\r\n`;

/** Reads until the end; "" if the connection was closed or reset without data. */
async function readAll(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk) => (text += String(chunk))).on('error', () => {});
  await new Promise<void>((resolve) => socket.on('close', () => resolve()));
  return text;
}

suite('with --proxy-protocol tcp,https', () => {
  let upstream: Upstream;
  let program: Program;
  let edge: AppEdge;
  before(async () => {
    upstream = await startUpstream();
    program = await Program.start(newSqlite(), {
      'trusted-proxies': `${proxy}/32`,
      'proxy-protocol': 'tcp,https',
      'drain-seconds': '0',
    });
    edge = await createAppEdge(program, upstream.port);
    const body = { ip_policy_ids: [await createPolicy(program, '203.0.113.5/32', '2001:db8::/32', `${proxy}/32`)] };
    await program.must('PUT', `${edge.tcpPath}/ip_restriction`, body);
    await program.must('PUT', `${edge.routePath}/ip_restriction`, body);
  });
  after(async () => {
    await program[Symbol.asyncDispose]();
    await upstream[Symbol.asyncDispose]();
  });

  async function overTcp(from: string, header: Buffer): Promise<string> {
    const socket = connect({ host: '127.0.0.1', port: edge.tcpPort, localAddress: from });
    socket.write(Buffer.concat([header, Buffer.from(request)]));
    return readAll(socket);
  }

  async function overHttps(from: string, header: Buffer, sent = request): Promise<string> {
    const carrier = connect({ host: '127.0.0.1', port: program.httpsPort, localAddress: from });
    carrier.on('error', () => {}).write(header);
    const socket = connectTls({ socket: carrier, servername: appHost, rejectUnauthorized: false });
    socket.on('error', () => {}).write(sent);
    carrier.on('close', () => socket.destroy());
    return readAll(socket);
  }

  const cases: readonly [name: string, from: string, header: Buffer, admitted: boolean][] = [
    ['v1 of the proxy, for an address that is allowed', proxy, proxyV1('203.0.113.5'), true],
    ['v1 of the proxy, for one that is not', proxy, proxyV1('203.0.113.6'), false],
    ['v2 of the proxy, for an address that is allowed', proxy, proxyV2('203.0.113.5'), true],
    ['v2 of the proxy, for one that is not', proxy, proxyV2('203.0.113.6'), false],
    ['v1 of the proxy, for an IPv6 address', proxy, proxyV1('2001:db8::7'), true],
    ['v2 of the proxy, for an IPv6 address', proxy, proxyV2('2001:db8::7'), true],
    ['v2 of the proxy, for itself', proxy, proxyV2Local, true],
    ['no header of the proxy', proxy, Buffer.alloc(0), false],
    ['a malformed header of the proxy', proxy, Buffer.from('PROXY TCP4 203.0.113.5\r\n'), false],
    ['a header of a stranger', stranger, proxyV1('203.0.113.5'), false],
  ];
  for (const [name, from, header, admitted] of cases) {
    test(`${name} lets ${admitted ? 'the client in' : 'nobody in'}`, async () => {
      const { requests } = upstream;
      const [tcp, https] = [await overTcp(from, header), await overHttps(from, header)];
      assert.equal(tcp.startsWith('HTTP/1.1 200'), admitted, `TCP: ${tcp}`);
      assert.equal(https.startsWith('HTTP/1.1 200'), admitted, `HTTPS: ${https}`);
      assert.equal(upstream.requests, requests + (admitted ? 2 : 0));
    });
  }

  test('the upstream of an HTTPS edge gets the address of the header, and not what the client claims', async () => {
    const claim = request.replace('\r\n', '\r\nX-Forwarded-For: 198.51.100.1\r\n');
    assert.match(await overHttps(proxy, proxyV2('203.0.113.5'), claim), /"x-forwarded-for":"203\.0\.113\.5"/);
  });
});

suite('with --trusted-proxies', () => {
  let site: Site;
  before(async () => {
    site = await Site.start({ trustedProxies: `${proxy}, 127.0.0.10/31`, drainSeconds: '0' });
    await site.restrict(true, await site.policy('203.0.113.5/32', '!203.0.113.6/32', '127.0.0.0/30'));
  });
  after(() => site[Symbol.asyncDispose]());

  /** Returns the address that the upstream gets, or the status of a refusal. */
  async function ask(from: string, forwardedFor: string): Promise<string | number | undefined> {
    const headers = { 'X-Forwarded-For': forwardedFor, 'X-Real-IP': '203.0.113.5', Forwarded: 'for=203.0.113.5' };
    const { status, echo } = await site.askHttps({ from, headers });
    return status === 200 ? echo?.headers['x-forwarded-for'] : status;
  }

  test('X-Forwarded-For of a stranger counts for nothing, and does not reach the upstream', async () => {
    assert.equal(await ask(stranger, '203.0.113.6'), stranger);
    assert.equal(await ask('127.0.0.8', '203.0.113.5'), 403);
    const { echo } = await site.askHttps({
      from: stranger,
      headers: { 'x-real-ip': '1.1.1.1', forwarded: 'for=1.1.1.1' },
    });
    assert.deepEqual([echo?.headers['x-real-ip'], echo?.headers['forwarded']], [undefined, undefined]);
  });

  test('X-Forwarded-For of a trusted proxy is read from the right, through further trusted ones', async () => {
    assert.equal(await ask(proxy, '203.0.113.5'), `203.0.113.5, ${proxy}`);
    assert.equal(await ask(proxy, '203.0.113.6'), 403);
    assert.equal(await ask(proxy, '203.0.113.5, 127.0.0.11'), `203.0.113.5, 127.0.0.11, ${proxy}`);
    assert.equal(await ask(proxy, '203.0.113.5, 203.0.113.6'), 403, 'the client that came last counts');
    assert.equal(await ask(proxy, '203.0.113.5, nonsense'), 403, 'nobody speaks for who is behind nonsense');
  });

  test('TCP edges use the address of the peer only', async () => {
    await assert.rejects(site.askTcp({ from: proxy, headers: { 'x-forwarded-for': '203.0.113.5' } }), {
      code: 'ECONNRESET',
    });
  });
});
