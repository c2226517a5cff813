import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { request as requestHttps } from 'node:https';
import { connect, createServer } from 'node:net';
import { test } from 'node:test';

import { rounds } from '../../support/long-form.ts';
import { portOf } from '../../gateway/support/https-upstream.ts';
import type { Answered } from '../gateway/support/traffic.ts';
import { until } from '../gateway/support/until.ts';
import { startUpstream } from '../gateway/support/upstream.ts';
import { onServed } from './support/served.ts';

/** Several times the window of a stream. */
const bulkBytes = rounds(4, 20) * 1024 * 1024;
/** Streams that the library takes at once; above it, it would drop the whole session. */
const libraryStreams = 512;

/** Bounds of the gateway that are not looked at here, far away. */
const wide = {
  'client-connections': '4000',
  'source-connections': '4000',
  'upstream-connections': '4000',
  'account-connections': '4000',
  'backend-connections': '4000',
  'backend-source-connections': '4000',
};

onServed(
  'many visitors and much data through one session',
  (served) => {
    /** An upstream that answers nobody before it is told to. */
    async function startHolding() {
      const held: ServerResponse[] = [];
      let isHolding = true;
      const upstream = await startUpstream('holding', (_request, response) => {
        if (isHolding) held.push(response);
        else response.end('at once');
      });
      return {
        addr: `127.0.0.1:${upstream.port}`,
        held,
        [Symbol.asyncDispose]: () => upstream[Symbol.asyncDispose](),
        release() {
          isHolding = false;
          for (const response of held) response.end('held');
        },
      };
    }

    function visit(hostname: string, path: string, method = 'GET') {
      const request = requestHttps({
        port: served().program.httpsPort,
        host: '127.0.0.1',
        servername: hostname,
        headers: { host: hostname },
        path,
        method,
        rejectUnauthorized: false,
        agent: false,
      });
      request.on('error', () => {});
      if (method === 'GET') request.end();
      return request;
    }

    async function sessionId(): Promise<string> {
      const { tunnel_sessions } = await served().program.must('GET', '/tunnel_sessions');
      return tunnel_sessions.map(({ id }: { readonly id: string }) => id).join();
    }

    test('of 600 requests at once those above the limit of the library get 503, and the session lives', async () => {
      await using holding = await startHolding();
      const { held, addr } = holding;
      const agent = await served().agent(await served().newToken(), [{ addr }]);
      const session = await sessionId();
      const refused: Answered[] = [];
      const ask = async () => {
        const answer = await served().ask(agent.hostname);
        if (answer.status !== 200) refused.push(answer);
        return answer.status;
      };
      const answers: Promise<number>[] = [];
      // In waves: 600 handshakes at once take a busy machine longer than a handshake may.
      while (answers.length < 600) {
        answers.push(...Array.from({ length: 50 }, ask));
        await until(
          () => held.length + refused.length === answers.length,
          () => `${held.length} have arrived, ${refused.length} were refused`,
          60_000,
        );
      }
      holding.release();
      const statuses = await Promise.all(answers);
      const answered = statuses.filter((status) => status === 200).length;
      assert.ok(answered >= 500 && answered <= libraryStreams, `${answered} were answered`);
      assert.deepEqual(
        new Set(refused.map(({ status, errorCode }) => `${status} ${errorCode}`)),
        new Set(['503 20150']),
      );
      assert.equal((await served().ask(agent.hostname)).text, 'at once');
      assert.equal(await sessionId(), session, 'the session is the same');
      assert.deepEqual(agent.statuses, ['connected']);
    });

    test('visitors that break off, more than the library has streams, cost the session nothing', async () => {
      let arrived = 0;
      let left = 0;
      await using upstream = await startUpstream('waiting', (request, response) => {
        if (request.url !== '/wait') {
          response.end('at once');
          return;
        }
        arrived++;
        response.on('close', () => left++);
      });
      const agent = await served().agent(await served().newToken(), [{ addr: `127.0.0.1:${upstream.port}` }]);
      const session = await sessionId();
      for (let round = 1; round <= 7; round++) {
        const visitors = Array.from({ length: 100 }, () => visit(agent.hostname, '/wait'));
        await until(
          () => arrived === round * 100,
          () => `${arrived} have arrived`,
          60_000,
        );
        for (const visitor of visitors) visitor.destroy();
        await until(
          () => left === round * 100,
          () => `${left} are seen to have left`,
          60_000,
        );
      }
      assert.equal((await served().ask(agent.hostname)).text, 'at once');
      assert.equal(await sessionId(), session, 'the session is the same');
    });

    test('a visitor that leaves in the middle of an endless download ends it', async () => {
      let left = 0;
      await using upstream = await startUpstream('endless', (_request, response) => {
        const piece = Buffer.alloc(100_000, 'x');
        const send = () => {
          while (!response.destroyed && response.write(piece));
        };
        response.on('drain', send).on('close', () => left++);
        send();
      });
      const agent = await served().agent(await served().newToken(), [{ addr: `127.0.0.1:${upstream.port}` }]);
      for (let round = 1; round <= 3; round++) {
        const request = visit(agent.hostname, '/');
        const [response] = await once(request, 'response');
        await once(response, 'data');
        request.destroy();
        await until(() => left === round, 'the upstream sees that it is gone');
      }
    });

    test('megabytes each way at once over HTTPS arrive as they were sent', async () => {
      const down = randomBytes(bulkBytes);
      const up = randomBytes(bulkBytes);
      const arrived = createHash('sha256');
      await using upstream = await startUpstream('bulk', (request: IncomingMessage, response) => {
        // An answer that ends first ends the request too.
        request.on('data', (chunk: Buffer) => arrived.update(chunk)).on('end', () => response.end());
        response.write(down);
      });
      const agent = await served().agent(await served().newToken(), [{ addr: `127.0.0.1:${upstream.port}` }]);
      const received = createHash('sha256');
      const request = visit(agent.hostname, '/', 'POST');
      request.end(up);
      const [response] = await once(request, 'response');
      for await (const chunk of response) received.update(chunk as Buffer);
      assert.equal(received.digest('hex'), hashOf(down));
      assert.equal(arrived.digest('hex'), hashOf(up));
    });

    test('megabytes each way at once over TCP arrive as they were sent, and each direction ends by itself', async () => {
      const down = randomBytes(bulkBytes);
      const up = randomBytes(bulkBytes);
      const arrived = createHash('sha256');
      const server = createServer({ allowHalfOpen: true }, (socket) => {
        socket.write(down);
        socket.on('data', (chunk) => arrived.update(chunk)).on('end', () => socket.end('the end'));
      });
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      const agent = await served().agent(await served().newToken(), [
        { proto: 'tcp', addr: `127.0.0.1:${portOf(server)}` },
      ]);
      const received = createHash('sha256');
      const socket = connect({ port: agent.portOf(0), host: '127.0.0.1', allowHalfOpen: true });
      socket.on('data', (chunk) => received.update(chunk));
      socket.end(up);
      await once(socket, 'end');
      assert.equal(arrived.digest('hex'), hashOf(up));
      assert.equal(received.digest('hex'), hashOf(down, Buffer.from('the end')));
      server.close();
    });
  },
  wide,
);

onServed('commands to programs with the library', (served) => {
  async function stop(): Promise<{ readonly status: number; readonly body: { readonly msg: string } }> {
    const { program } = served();
    const { tunnel_sessions } = await program.must('GET', '/tunnel_sessions');
    assert.equal(tunnel_sessions.length, 1);
    return program.call('POST', `/tunnel_sessions/${tunnel_sessions[0].id}/stop`, {});
  }

  test('a stop ends a program that handles it', async () => {
    const { program } = served();
    const listeners = [{ domain: 'stops.localhost' }];
    const agent = await served().agent(await served().newToken(), listeners, { stops: true });
    assert.equal((await served().ask('stops.localhost')).status, 200);
    assert.equal((await stop()).status, 204);
    assert.equal(await agent.exited, 0);
    await until(async () => (await program.must('GET', '/tunnel_sessions')).tunnel_sessions.length === 0, 'it is gone');
    assert.equal((await served().ask('stops.localhost')).errorCode, 3200);
  });

  test('a program that does not handle it goes on, and its reason is shown', async () => {
    await served().agent(await served().newToken(), [{ domain: 'goes-on.localhost' }]);
    const { status, body } = await stop();
    assert.equal(status, 409);
    assert.match(body.msg, /cannot carry out the command stop: \S+/);
    assert.equal((await served().ask('goes-on.localhost')).status, 200);
  });
});

function hashOf(...parts: readonly Buffer[]): string {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest('hex');
}
