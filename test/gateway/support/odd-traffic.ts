import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Socket } from 'node:net';

import { connectClient, openHttp2, readAll, requestHttp2, sendRaw } from './https-client.ts';
import { until } from './tcp-engine.ts';

/** Odd but legal traffic of an HTTPS edge for `app.test`, to be carried by several ways and compared. */

/** The upstream: called with each piece that it receives. */
export type Answer = (socket: Socket, received: string) => void;
/** Visits the gateway at this port and tells all that it has seen. */
export type Visit = (gateway: { readonly port: number }) => Promise<unknown>;
/** Runs all ways, compares them, and returns what the visitor has seen, as JSON, and what the upstream has received. */
export type CarryAllWays = (
  answer: Answer,
  visit: Visit,
) => Promise<{ readonly seen: string; readonly received: string }>;

/** Answers each request once its head and the given end of its body are there. */
function answerAfter(end: string, answer: string | ((socket: Socket) => void)): Answer {
  let text = '';
  return (socket, received) => {
    text += received;
    if (!text.endsWith(end)) return;
    text = '';
    if (typeof answer === 'string') socket.write(answer, 'latin1');
    else answer(socket);
  };
}

const close = 'Host: app.test\r\nConnection: close\r\n\r\n';

export const oddTraffic: readonly { readonly name: string; readonly run: (carry: CarryAllWays) => Promise<void> }[] = [
  {
    name: 'server-sent events, each before the next is sent',
    run: async (carry) => {
      let upstreamSide: Socket | undefined;
      const { seen } = await carry(
        answerAfter('\r\n\r\n', (socket) => {
          upstreamSide = socket;
          socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 0\n\n');
        }),
        async ({ port }) => {
          const client = await connectClient(port);
          let text = '';
          client.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
          client.write(`GET /events HTTP/1.1\r\n${close}`);
          for (let event = 0; event < 5; event++) {
            await until(() => text.includes(`data: ${event}\n\n`), `event ${event}`);
            if (event < 4) upstreamSide?.write(`data: ${event + 1}\n\n`);
          }
          upstreamSide?.end();
          await once(client, 'close');
          return text.slice(text.indexOf('\r\n\r\n'));
        },
      );
      assert.match(seen, /data: 4/);
    },
  },
  {
    name: 'chunks both ways, with extensions and trailers',
    run: async (carry) => {
      const { seen, received } = await carry(
        answerAfter(
          'X-Sum: 1\r\n\r\n',
          'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-End\r\n\r\n5;a=b\r\nhello\r\n1\r\n!\r\n0\r\nX-End: yes\r\n\r\n',
        ),
        async ({ port }) => {
          const request = `POST /c HTTP/1.1\r\nTE: trailers\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n${close}`;
          const { text } = await sendRaw(port, `${request}4\r\nbody\r\n3\r\n\x00\xff!\r\n0\r\nX-Sum: 1\r\n\r\n`);
          return text;
        },
      );
      assert.match(seen, /X-End: yes/);
      // What comes in one read goes on in one chunk.
      assert.ok(received.includes('\r\n7\r\nbody\x00\xff!\r\n0\r\n'));
      assert.match(received, /X-Sum: 1/);
    },
  },
  {
    name: 'interim responses, and a body that waits for "100 Continue"',
    run: async (carry) => {
      const { seen } = await carry(
        (socket, received) => {
          if (received.includes('Expect: 100-continue')) {
            socket.write('HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n');
            socket.write('HTTP/1.1 100 Continue\r\n\r\n');
          }
          if (received.endsWith('late body')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
        },
        async ({ port }) => {
          const client = await connectClient(port);
          const all = readAll(client);
          let text = '';
          client.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
          client.write(`PUT / HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 9\r\n${close}`);
          await until(() => text.includes('100 Continue'), 'the client may go on');
          client.write('late body');
          return all;
        },
      );
      assert.match(seen, /103 Early Hints.*100 Continue.*200 OK/);
    },
  },
  {
    name: 'an answer that ends with its connection, and ones without a body',
    run: async (carry) => {
      const answers: Readonly<Record<string, string>> = {
        '/old': 'HTTP/1.0 200 OK\r\n\r\nuntil the end',
        '/none': 'HTTP/1.1 204 No Content\r\n\r\n',
        '/same': 'HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\nETag: "a"\r\n\r\n',
        '/head': 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n',
      };
      const { seen } = await carry(
        (socket, received) => {
          const [, path = ''] = received.split(' ');
          socket.write(answers[path] ?? '');
          if (path === '/old') socket.end();
        },
        async ({ port }) => {
          const texts: string[] = [];
          for (const line of ['GET /old', 'GET /none', 'GET /same', 'HEAD /head'])
            texts.push((await sendRaw(port, `${line} HTTP/1.1\r\n${close}`)).text);
          return texts;
        },
      );
      assert.match(seen, /until the end/);
    },
  },
  {
    name: 'paths byte for byte',
    run: async (carry) => {
      const paths = [
        '/',
        '/a//b',
        '/%41%2f%00',
        '/a?b=%zz&c=%FF',
        '/~!$&()*+,;=:@',
        '/a?',
        '/\xe4',
        '/%e4/%C3%A4?\xff',
      ];
      const { received } = await carry(
        answerAfter('\r\n\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'),
        async ({ port }) => {
          const statuses: number[] = [];
          for (const path of paths) statuses.push((await sendRaw(port, `GET ${path} HTTP/1.1\r\n${close}`)).status);
          return statuses;
        },
      );
      assert.ok(received.includes('GET /a?b=%zz&c=%FF HTTP/1.1\r\n'));
    },
  },
  {
    name: 'an upgraded connection, with an end of the upstream while bytes are on their way',
    run: async (carry) => {
      const { seen, received } = await carry(
        (socket, text) => {
          if (text.includes('Upgrade: echo'))
            socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nfirst ');
          else socket.end(`[${text}]`);
        },
        async ({ port }) => {
          const client = await connectClient(port);
          const all = readAll(client);
          let text = '';
          client.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
          client.write('GET /chat HTTP/1.1\r\nHost: app.test\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
          await until(() => text.endsWith('first '), 'the upgrade');
          client.write('\x00\xff bytes', 'latin1');
          return all;
        },
      );
      assert.match(seen, /101 Switching.*first \[.* bytes\]/);
      assert.ok(received.endsWith('\x00\xff bytes'));
    },
  },
  {
    name: 'a visitor with HTTP/2: interims, trailers and a body both ways',
    run: async (carry) => {
      const { seen } = await carry(
        answerAfter(
          'x-sum: 1\r\n\r\n',
          'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-End: yes\r\n\r\n',
        ),
        async ({ port }) => {
          const session = openHttp2(port);
          const answer = await requestHttp2(
            session,
            { ':method': 'POST', ':path': '/h2', te: 'trailers' },
            'body of HTTP/2',
            { 'x-sum': '1' },
          );
          session.close();
          const { date: _date, ...headers } = answer.headers;
          return { ...answer, headers };
        },
      );
      assert.match(seen, /"x-end":"yes"/);
      assert.match(seen, /"interims":\[103\]/);
    },
  },
  {
    name: 'requests one after another on one connection',
    run: async (carry) => {
      const { received } = await carry(
        (socket, text) => {
          for (const [, path] of text.matchAll(/GET (\S+) /g))
            socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${path?.length}\r\n\r\n${path}`);
        },
        async ({ port }) => {
          const head = 'HTTP/1.1\r\nHost: app.test\r\n\r\n';
          const { text } = await sendRaw(port, `GET /1 ${head}GET /22 ${head}GET /333 HTTP/1.1\r\n${close}`);
          return text;
        },
      );
      assert.equal(received.match(/GET/g)?.length, 3);
    },
  },
];
