import assert from 'node:assert/strict';
import { connect as connectHttp2 } from 'node:http2';
import { connect as connectPlain } from 'node:net';
import { after, before, suite, test } from 'node:test';
import { connect } from 'node:tls';

import { newSqlite } from '../../support/scratch.ts';
import { someOf } from '../../support/sample.ts';
import { cookieFrames, fillers, headerNames, pump, staysLinear } from './support/pumped.ts';
import { PumpedSite } from './support/pumped-site.ts';
import { RawVisitor } from './support/raw-visitor.ts';

const limitMs = 300_000;
const plain = 'plain.pumped.test';
const guarded = 'guarded.pumped.test';
/** Bytes of a head of which four times as many are still taken, of a request and of an answer. */
const headSize = 7000;
const answerSize = 15_000;
/** Folders whose sources name headers of requests and answers. */
const folders = ['src/gateway', 'src/modules', 'src/lib'];

suite('the cost of what visitors and upstreams send grows no faster than its size', { timeout: limitMs }, () => {
  let site: PumpedSite;
  before(async () => {
    site = await PumpedSite.start(newSqlite());
    await site.addEdge(plain);
    await site.addEdge(guarded, {
      compression: {},
      user_agent_filter: { deny: ['(?i)bot|crawler'] },
      request_headers: { add: { 'X-Added': '1' }, remove: ['X-Removed'] },
      response_headers: { add: { 'X-Added': '1' }, remove: ['X-Removed'] },
    });
  });
  after(() => site[Symbol.asyncDispose]());

  const request = (line: string, host: string, more: string) => `${line} HTTP/1.1\r\nHost: ${host}\r\n${more}\r\n`;

  test('headers of requests', { timeout: limitMs }, async () => {
    using visitor = new RawVisitor(site.httpsPort, guarded);
    assert.match(await visitor.ask(request('GET /', guarded, `x-a: ${pump('a', headSize * 4)}\r\n`)), /^HTTP\S+ 200/);
    for (const name of headerNames(...folders)) {
      for (const filler of name === 'cookie' ? fillers : someOf(fillers, 4, 'fillers of requests', name)) {
        const frames = name === 'cookie' ? cookieFrames : cookieFrames.slice(0, 1);
        for (const frame of frames)
          await staysLinear(site.program, `${name}: ${JSON.stringify(filler)}`, headSize, (size) =>
            visitor.ask(request('GET /', guarded, `${name}: ${pump(filler, size, frame)}\r\n`)),
          );
      }
    }
  });

  test('cookies and names of hosts over HTTP/2', { timeout: limitMs }, async () => {
    const session = connectHttp2(`https://127.0.0.1:${site.httpsPort}`, {
      servername: guarded,
      rejectUnauthorized: false,
    });
    session.on('error', () => {});
    const ask = (headers: Readonly<Record<string, string>>): Promise<void> =>
      new Promise((resolve) => {
        session
          .request({ ':path': '/', ':authority': guarded, ...headers })
          .on('error', () => {})
          .on('close', resolve)
          .resume()
          .end();
      });
    for (const filler of fillers)
      for (const frame of cookieFrames)
        for (const name of ['cookie', 'x-forwarded-for', 'user-agent'])
          await staysLinear(site.program, `${name}: ${JSON.stringify(filler)}`, headSize / 2, (size) =>
            ask({ [name]: pump(filler, size, frame) }),
          );
    session.destroy();
  });

  test('request lines', { timeout: limitMs }, async () => {
    using visitor = new RawVisitor(site.httpsPort, plain);
    for (const filler of fillers.filter((each) => !/\s/.test(each)))
      for (const line of ['GET /', 'GET /?', 'GET /a?b=', 'GET //', 'GET https://', '', 'GET /.gatehouse/'])
        await staysLinear(site.program, `${line}${JSON.stringify(filler)}`, headSize, (size) =>
          visitor.ask(request(`${line}${pump(filler, size)}`, plain, '')),
        );
  });

  test('many headers, and many of one name', { timeout: limitMs }, async () => {
    using visitor = new RawVisitor(site.httpsPort, guarded);
    for (const lines of ['a: b\r\n', 'cookie: a=b\r\n', 'x-forwarded-for: ::\r\n', 'connection: a\r\n', 'te:\r\n'])
      await staysLinear(site.program, JSON.stringify(lines), headSize, (size) =>
        visitor.ask(request('GET /', guarded, lines.repeat(Math.ceil(size / lines.length)))),
      );
  });

  test('headers of answers', { timeout: limitMs }, async () => {
    using visitor = new RawVisitor(site.httpsPort, guarded);
    const asked = request('GET /', guarded, 'Accept-Encoding: gzip\r\n');
    for (const name of headerNames(...folders)) {
      for (const filler of name === 'set-cookie' ? fillers : someOf(fillers, 4, 'fillers of answers', name)) {
        const what = `answer with ${name}: ${JSON.stringify(filler)}`;
        await staysLinear(site.program, what, answerSize, async (size) => {
          const length = name === 'content-length' ? '' : 'Content-Length: 2\r\n';
          site.answer = `HTTP/1.1 200 OK\r\n${length}${name}: ${pump(filler, size)}\r\n\r\nok`;
          const answered = await visitor.ask(asked);
          if (name.startsWith('x-')) assert.match(answered, /^HTTP\S+ 200/, what);
        });
      }
    }
  });

  test('lines, chunks and trailers of answers', { timeout: limitMs }, async () => {
    using visitor = new RawVisitor(site.httpsPort, guarded);
    const asked = request('GET /', guarded, 'Accept-Encoding: gzip\r\n');
    const chunked = 'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n';
    const answers = {
      'a status line': (size: number) => `HTTP/1.1 200 ${pump(' ', size)}\r\nContent-Length: 0\r\n\r\n`,
      'headers without end': (size: number) => `HTTP/1.1 200 OK\r\n${'a: b\r\n'.repeat(size / 6)}\r\n`,
      'interim answers': (size: number) => `${'HTTP/1.1 103 a\r\n\r\n'.repeat(size / 18)}HTTP/1.1 204 a\r\n\r\n`,
      chunks: (size: number) => `${chunked}${'1\r\nx\r\n'.repeat(size / 6)}0\r\n\r\n`,
      'extensions of a chunk': (size: number) => `${chunked}1;${pump(';', size)}\r\nx\r\n0\r\n\r\n`,
      trailers: (size: number) => `${chunked}0\r\n${'a: b\r\n'.repeat(size / 6)}\r\n`,
    };
    for (const [what, make] of Object.entries(answers))
      await staysLinear(site.program, what, answerSize, async (size) => {
        site.answer = make(size);
        await visitor.ask(asked);
      });
  });

  test('names and protocols of TLS handshakes', { timeout: limitMs }, async () => {
    const greet = (options: object): Promise<void> =>
      new Promise((resolve) => {
        const socket = connect({ host: '127.0.0.1', port: site.httpsPort, rejectUnauthorized: false, ...options });
        socket
          .on('error', () => {})
          .once('secureConnect', () => socket.destroy())
          .once('close', () => resolve());
      });
    await staysLinear(site.program, 'protocols', 3000, (size) =>
      greet({ servername: plain, ALPNProtocols: Array.from({ length: size / 3 }, () => 'h3') }),
    );
    for (const filler of ['a', '.', 'a.', '-'])
      await staysLinear(site.program, `name of ${filler}`, 50, (size) => greet({ servername: pump(filler, size) }));
    await staysLinear(site.program, 'bytes that are no handshake', 15_000, (size) =>
      bytes(site.httpsPort, '\x16', size),
    );
  });
});

suite('the cost of PROXY heads grows no faster than their size', { timeout: limitMs }, () => {
  test('texts and fields', { timeout: limitMs }, async () => {
    await using site = await PumpedSite.start(newSqlite(), ['--proxy-protocol=https', '--trusted-proxies=127.0.0.0/8']);
    for (const filler of [' ', '1', ':', '.', 'TCP4 '])
      await staysLinear(site.program, `PROXY ${filler}`, 15_000, (size) =>
        bytes(site.httpsPort, 'PROXY ', size, filler),
      );
    // Version 2, a connection over TCP and IPv4, with as many fields as 16 bits of length can hold.
    await staysLinear(site.program, 'fields', 15_000, (size) => {
      const addresses = '\x7f\0\0\x01\x7f\0\0\x01\0\x50\0\x50';
      const length = addresses.length + Math.floor(size / 3) * 3;
      const head = `\r\n\r\n\0\r\nQUIT\n\x21\x11${String.fromCharCode(length >> 8, length & 255)}${addresses}`;
      return bytes(site.httpsPort, head, size, '\x04\0\0');
    });
  });
});

/** Sends bytes over a plain connection until it is closed, or for as long as an answer would take. */
function bytes(port: number, head: string, size: number, filler = '\0'): Promise<void> {
  return new Promise((resolve) => {
    const socket = connectPlain(port, '127.0.0.1', () => {
      socket.write(head + pump(filler, size), 'latin1', () => setTimeout(() => socket.destroy(), 50));
    });
    socket
      .resume()
      .on('error', () => {})
      .once('close', () => resolve());
  });
}
