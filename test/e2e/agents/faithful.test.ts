import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { test } from 'node:test';

import { WebSocket, WebSocketServer } from 'ws';
import type { ClientOptions } from 'ws';

import { edgeCertificate } from '../../gateway/support/https-certificate.ts';
import { portOf, startRawUpstream } from '../../gateway/support/https-upstream.ts';
import { oddTraffic } from '../../gateway/support/odd-traffic.ts';
import type { CarryAllWays } from '../../gateway/support/odd-traffic.ts';
import { until } from '../gateway/support/until.ts';
import { onServed } from './support/served.ts';

/**
 * Odd but legal traffic through the library, to a name of the agent itself and to an edge with labels: visitors and
 * upstream must see the same bytes in the same order as with an edge whose backend is that upstream.
 */
onServed(
  'the library carries what a static backend gets',
  (served) => {
    const host = 'app.test';

    async function token(): Promise<string> {
      return served().newToken();
    }

    /** Makes `app.test` lead to the port in one of three ways, one after another. */
    async function* httpsWays(port: number): AsyncGenerator<string> {
      const { program } = served();
      const backend = await program.must('POST', '/backends/static', { address: `127.0.0.1:${port}` });
      const edge = await program.must('POST', '/edges/https', { hostports: [`${host}:443`] });
      const { id } = await program.must('POST', `/edges/https/${edge.id}/routes`, {
        match_type: 'path_prefix',
        match: '/',
        backend: { backend_id: backend.id },
      });
      yield 'a static backend';
      const group = await program.must('POST', '/backends/tunnel_group', { labels: { port: String(port) } });
      const labels = [`port:${port}`];
      await served().agent(await token(), [{ proto: 'labeled', labels, addr: `127.0.0.1:${port}` }]);
      await program.must('PUT', `/edges/https/${edge.id}/routes/${id}/backend`, { backend_id: group.id });
      yield 'labels';
      await program.must('DELETE', `/edges/https/${edge.id}`);
      const agent = await served().agent(await token(), [{ domain: host, addr: `127.0.0.1:${port}` }]);
      yield 'a name';
      await agent.closeListener(agent.url);
      const isGone = async () => (await program.must('GET', '/endpoints')).endpoints.length === 0;
      await until(isGone, 'the name is given up');
    }

    const carryHttps: CarryAllWays = async (answer, visit) => {
      let all = '';
      await using upstream = await startRawUpstream(answer);
      const outcomes: { readonly seen: string; readonly received: string }[] = [];
      for await (const way of httpsWays(upstream.port)) {
        const seen = withoutDate(JSON.stringify(await visit({ port: served().program.httpsPort })));
        const received = upstream.received.slice(all.length);
        all = upstream.received;
        outcomes.push({ seen, received });
        assert.deepEqual(outcomes.at(-1), outcomes[0], way);
      }
      assert.equal(outcomes.length, 3);
      return outcomes[0] ?? assert.fail();
    };

    async function trustCertificate(): Promise<void> {
      const { program } = served();
      const { certificate, key } = edgeCertificate;
      const known = (await program.must('GET', '/tls_certificates')).tls_certificates;
      if (known.length > 0) return;
      await program.must('POST', '/tls_certificates', { certificate_pem: certificate, private_key_pem: key });
      await program.must('POST', '/reserved_domains', { domain: host });
    }

    for (const { name, run } of oddTraffic) {
      test(name, async () => {
        await trustCertificate();
        await run(carryHttps);
      });
    }

    test('WebSocket: texts, bytes, fragments, pings and the code of the end', async () => {
      await trustCertificate();
      const server = new WebSocketServer({ port: 0, host: '127.0.0.1', perMessageDeflate: false });
      await once(server, 'listening');
      server.on('connection', (socket, { url }) => {
        socket.send(String(url));
        socket.on('ping', (data) => {
          socket.send(`pinged ${String(data)}`);
        });
        socket.on('message', (data, isBinary) => {
          socket.send(data, { binary: isBinary });
        });
      });
      const outcomes: unknown[] = [];
      // It listens on a port, so that its address has this form.
      const { port } = server.address() as { readonly port: number };
      for await (const way of httpsWays(port)) {
        outcomes.push(await chat(served().program.httpsPort));
        assert.deepEqual(outcomes.at(-1), outcomes[0], way);
      }
      assert.equal(outcomes.length, 3);
      for (const client of server.clients) client.terminate();
      server.close();
    });

    async function chat(port: number): Promise<readonly string[]> {
      const seen: string[] = [];
      const { certificate: ca } = edgeCertificate;
      // Such options are those of the TLS connection, which the types leave out.
      const options: ClientOptions & { readonly servername: string } = { servername: host, headers: { host }, ca };
      const socket = new WebSocket(`wss://127.0.0.1:${port}/chat?a=b`, options);
      socket.on('message', (data, isBinary) => {
        const text = Buffer.isBuffer(data) ? data.toString('hex') : '';
        seen.push(`${isBinary ? 'bytes' : 'text'} ${text.length} ${text.slice(0, 40)}`);
      });
      socket.on('pong', (data) => seen.push(`pong ${String(data)}`));
      await once(socket, 'open');
      const step = async (count: number) =>
        until(
          () => seen.length === count,
          () => seen.join('; '),
        );
      await step(1);
      socket.send('Grüße');
      await step(2);
      socket.send(Buffer.alloc(300_000, 7));
      await step(3);
      socket.send('one ', { fin: false });
      socket.send('message', { fin: true });
      await step(4);
      socket.ping('p');
      await step(6);
      socket.close(4001, 'bye');
      const [code, reason] = await once(socket, 'close');
      return [...seen.slice(0, 4), ...seen.slice(4).toSorted(), `${code} ${String(reason)}`];
    }

    /** Runs a conversation over TCP: through an edge with the upstream as backend, with labels, and a port of the agent. */
    async function carryTcp(
      answer: (socket: Socket) => void,
      visit: (socket: Socket) => Promise<unknown>,
    ): Promise<string> {
      const { program } = served();
      const server = createServer({ allowHalfOpen: true }, (socket) => {
        answer(socket.on('error', () => {}));
      });
      const upstreamPort = await listen(server);
      const addr = `127.0.0.1:${upstreamPort}`;
      const reserved = await program.must('POST', '/reserved_addrs', {});
      const port = Number(reserved.addr.split(':').at(-1));
      const straight = await program.must('POST', '/backends/static', { address: addr });
      const group = await program.must('POST', '/backends/tunnel_group', { labels: { tcp: addr.replace(':', '_') } });
      const agent = await served().agent(await token(), [
        { proto: 'tcp', addr },
        { proto: 'labeled', labels: [`tcp:${addr.replace(':', '_')}`], addr },
      ]);
      const outcomes: string[] = [];
      const edge = await program.must('POST', '/edges/tcp', { hostports: [reserved.addr] });
      for (const [way, backendId, at] of [
        ['a static backend', straight.id, port],
        ['labels', group.id, port],
        ['a port', group.id, agent.portOf(0)],
      ] as const) {
        await program.must('PUT', `/edges/tcp/${edge.id}/backend`, { backend_id: backendId });
        const socket = connect({ port: at, host: '127.0.0.1', allowHalfOpen: true });
        outcomes.push(JSON.stringify(await visit(socket.on('error', () => {}))));
        assert.equal(outcomes.at(-1), outcomes[0], way);
        socket.destroy();
      }
      await program.must('DELETE', `/edges/tcp/${edge.id}`);
      server.close();
      return outcomes[0] ?? '';
    }

    test('TCP: an answer that comes after the end of the question', async () => {
      const seen = await carryTcp(
        (socket) => {
          const all: Buffer[] = [];
          socket.on('data', (chunk: Buffer) => all.push(chunk));
          socket.on('end', () => socket.end(`[${Buffer.concat(all).toString('latin1')}]`, 'latin1'));
        },
        async (socket) => {
          const text = readAll(socket);
          socket.write('first \x00\xff', 'latin1');
          socket.end('second', 'latin1');
          return text;
        },
      );
      assert.equal(seen, JSON.stringify('[first \x00\xffsecond]'));
    });

    test('TCP: an upstream that ends first still gets what the client sends then', async () => {
      const got: string[] = [];
      const seen = await carryTcp(
        (socket) => {
          socket.end('all I have to say');
          let text = '';
          socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
          socket.on('end', () => got.push(text));
        },
        async (socket) => {
          const text = await readAll(socket);
          const before = got.length;
          socket.write('and yet ');
          socket.end('more');
          await until(() => got.length > before, 'the upstream has read it');
          return [text, got.at(-1)];
        },
      );
      assert.equal(seen, JSON.stringify(['all I have to say', 'and yet more']));
    });

    test('TCP: a client that breaks off is seen by the upstream', async () => {
      let closed = 0;
      await carryTcp(
        (socket) => {
          socket.write('hello');
          socket.on('data', () => {});
          socket.on('close', () => closed++);
          // A half that stays open would hide that the client is gone.
          socket.on('end', () => socket.end());
        },
        async (socket) => {
          await once(socket, 'data');
          const before = closed;
          socket.resetAndDestroy();
          await until(() => closed > before, 'the upstream sees the end');
        },
      );
    });
  },
  { 'agent-name-seconds': '0' },
);

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return portOf(server);
}

async function readAll(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
  await once(socket, 'end');
  return text;
}

/** The date of answers differs between visits. */
function withoutDate(json: string): string {
  return json.replaceAll(/Date: [^\\]*\\r\\n/g, '');
}
