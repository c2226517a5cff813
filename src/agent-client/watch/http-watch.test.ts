import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { Random } from '../../../test/e2e/gateway/support/random.ts';
import { RecentExchanges } from '../inspect/recent-exchanges.ts';
import { HttpWatch } from './http-watch.ts';

/** One step of a connection: bytes of the visitor, bytes of the target, or the end of the target's side. */
type Step = readonly ['visitor' | 'target', string] | 'target ends' | 'over';

/** Returns the requests that are described, as `method path status`, with `!` for those that were cut off. */
function describe(steps: readonly Step[], pieceBytes = Infinity): readonly string[] {
  const described: string[] = [];
  const watch = new HttpWatch(({ method, path, status, isWhole }) => {
    described.push(`${method} ${path} ${status ?? '-'}${isWhole ? '' : ' !'}`);
  });
  feed(watch, steps, pieceBytes);
  return described;
}

function feed(watch: HttpWatch, steps: readonly Step[], pieceBytes: number): void {
  for (const step of steps) {
    if (step === 'target ends') watch.targetEnded();
    else if (step === 'over') watch.ended();
    else {
      const [from, text] = step;
      const bytes = Buffer.from(text, 'latin1');
      const size = Math.min(pieceBytes, bytes.length);
      for (let at = 0; at < bytes.length; at += size) {
        const piece = bytes.subarray(at, at + size);
        if (from === 'visitor') watch.fromVisitor(piece);
        else watch.fromTarget(piece);
      }
    }
  }
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
const ok = (body: string): string => `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
const chunked =
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;x=1\r\nhello\r\n3\r\n\r\n\r\r\n0\r\nTrailer: x\r\n\r\n';

const conversations: Readonly<Record<string, readonly [steps: readonly Step[], described: readonly string[]]>> = {
  'a request and its answer': [
    [
      ['visitor', get('/a?b=c')],
      ['target', ok('hello')],
    ],
    ['GET /a 200'],
  ],
  'requests one after the other': [
    [
      ['visitor', get('/a')],
      ['target', ok('')],
      ['visitor', get('/b')],
      ['target', chunked],
      ['visitor', get('/c')],
      ['target', ok('x')],
    ],
    ['GET /a 200', 'GET /b 200', 'GET /c 200'],
  ],
  'pipelined requests': [
    [
      ['visitor', get('/a') + get('/b') + get('/c')],
      ['target', chunked + ok('x') + chunked],
    ],
    ['GET /a 200', 'GET /b 200', 'GET /c 200'],
  ],
  'bodies of requests that look like requests': [
    [
      ['visitor', `POST /a HTTP/1.1\r\nContent-Length: ${get('/no').length}\r\n\r\n${get('/no')}`],
      ['target', ok(ok('no'))],
      ['visitor', `POST /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nGET /\r\n0\r\n\r\n${get('/c')}`],
      ['target', ok('') + ok('')],
    ],
    ['POST /a 200', 'POST /b 200', 'GET /c 200'],
  ],
  'answers without a body': [
    [
      ['visitor', `HEAD /a HTTP/1.1\r\n\r\n${get('/b')}${get('/c')}${get('/d')}`],
      ['target', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n'],
      ['target', `HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n${ok('')}`],
    ],
    ['HEAD /a 200', 'GET /b 204', 'GET /c 304', 'GET /d 200'],
  ],
  'interim answers': [
    [
      ['visitor', get('/a')],
      ['target', `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n${ok('')}`],
    ],
    ['GET /a 200'],
  ],
  'an answer that the end of the connection ends': [
    [['visitor', get('/a')], ['target', 'HTTP/1.1 200 OK\r\n\r\nsome'], ['target', 'more'], 'target ends'],
    ['GET /a 200'],
  ],
  'a target that leaves without an answer': [[['visitor', get('/a')], 'target ends'], ['GET /a - !']],
  'a visitor that leaves before the end': [
    [['visitor', get('/a')], ['target', 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf'], 'over'],
    ['GET /a 200 !'],
  ],
  'an upgrade': [
    [
      ['visitor', get('/ws')],
      ['target', 'HTTP/1.1 101 Switching Protocols\r\n\r\n'],
      ['visitor', get('/no')],
      ['target', ok('')],
    ],
    ['GET /ws 101'],
  ],
  'a tunnel': [
    [
      ['visitor', 'CONNECT a:1 HTTP/1.1\r\n\r\n'],
      ['target', ok('')],
      ['visitor', get('/no')],
      ['target', ok('')],
    ],
    ['CONNECT a:1 200'],
  ],
  'garbage instead of a request': [
    [
      ['visitor', '\u0016\u0003\u0001garbage\r\n\r\n'],
      ['target', ok('')],
    ],
    [],
  ],
  'garbage behind a request': [
    [
      ['visitor', `${get('/a')}\u0000garbage\r\n\r\n${get('/no')}`],
      ['target', ok('x') + ok('y')],
    ],
    ['GET /a 200'],
  ],
  'garbage instead of an answer': [
    [
      ['visitor', get('/a')],
      ['target', 'garbage\r\n\r\n'],
      ['target', ok('')],
    ],
    ['GET /a - !'],
  ],
  'an answer that nobody asked for': [
    [
      ['target', ok('x')],
      ['visitor', get('/no')],
      ['target', ok('x')],
    ],
    [],
  ],
  'HTTP/2': [
    [
      ['visitor', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
      ['target', ok('')],
    ],
    [],
  ],
  'a head without an end': [
    [
      ['visitor', `GET /a HTTP/1.1\r\nX: ${'x'.repeat(70_000)}`],
      ['visitor', `\r\n\r\n`],
      ['target', ok('')],
    ],
    [],
  ],
  'a chunk without an end': [
    [
      ['visitor', get('/a')],
      ['target', `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${'5'.repeat(5000)}`],
      'over',
    ],
    ['GET /a 200 !'],
  ],
  'a length that is none': [
    [
      ['visitor', 'GET /a HTTP/1.1\r\nContent-Length: x\r\n\r\n'],
      ['target', ok('')],
    ],
    [],
  ],
  'control characters in a path': [
    [
      ['visitor', get('/\u001B[2J')],
      ['target', ok('')],
    ],
    [],
  ],
  'empty lines before a request': [
    [
      ['visitor', `\r\n\r\n${get('/a')}`],
      ['target', ok('')],
    ],
    ['GET /a 200'],
  ],
};

suite('requests of a connection are described, however its bytes are cut', () => {
  for (const [name, [steps, described]] of Object.entries(conversations)) {
    test(name, () => {
      for (const size of [Infinity, 1, 2, 3, 7])
        assert.deepEqual(describe(steps, size), described, `pieces of ${size}`);
    });
  }
});

test('it knows the request that is answered next, and none while the connection is idle', () => {
  const watch = new HttpWatch(() => {});
  const next = (): string | undefined => watch.next?.path;
  assert.equal(next(), undefined);
  watch.fromVisitor(Buffer.from(get('/a') + get('/b')));
  assert.equal(next(), '/a');
  watch.fromTarget(Buffer.from(ok('x')));
  assert.equal(next(), '/b');
  watch.fromTarget(Buffer.from(ok('x')));
  assert.equal(next(), undefined);
  assert.equal(watch.isLost, false);
});

test('a client that pipelines without reading is described only so far, and no memory grows', () => {
  const watch = new HttpWatch(() => {});
  for (let sent = 0; sent < 10_000; sent++) watch.fromVisitor(Buffer.from(get('/a')));
  for (let answered = 0; answered < 300; answered++) watch.fromTarget(Buffer.from(ok('')));
  assert.equal(watch.isLost, true);
});

/** What a recorder was given, as `head | body | answer | body`, with `?` where it has no end. */
function record(
  steps: readonly Step[],
  pieceBytes: number,
): { readonly kept: readonly string[]; readonly gaveUp: number } {
  const recent = new RecentExchanges();
  const watch = new HttpWatch(() => {}, recent.recorder({ visitor: '', replayOf: undefined }));
  feed(watch, steps, pieceBytes);
  const kept = recent.all.toReversed().map((exchange) => {
    const { request, requestKept, reply, answerKept, hasRequestEnded, report } = exchange;
    const sent = `${requestKept.bytes.toString()}${hasRequestEnded ? '' : '?'}`;
    const answered = `${answerKept.bytes.toString()}${report?.isWhole === true ? '' : '?'}`;
    return [request.line, sent, reply?.line ?? '-', answered].join(' | ');
  });
  return { kept, gaveUp: recent.gaveUp };
}

const posted = 'POST /p HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nGET /\r\n2;a=b\r\nxy\r\n0\r\n\r\n';
const recordings: Readonly<Record<string, readonly [steps: readonly Step[], kept: readonly string[], gaveUp: number]>> =
  {
    'bodies in chunks and of a length, pipelined': [
      [
        ['visitor', `${posted}POST /q HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc${get('/r')}`],
        ['target', `HTTP/1.1 100 Continue\r\n\r\n${chunked}${ok('two')}HTTP/1.1 200 OK\r\n\r\nto the end`],
        'target ends',
      ],
      [
        'POST /p HTTP/1.1 | GET /xy | HTTP/1.1 200 OK | hello\r\n\r',
        'POST /q HTTP/1.1 | abc | HTTP/1.1 200 OK | two',
        'GET /r HTTP/1.1 |  | HTTP/1.1 200 OK | to the end',
      ],
      0,
    ],
    'an answer before the body': [
      [
        ['visitor', 'POST /a HTTP/1.1\r\nContent-Length: 4\r\n\r\nab'],
        ['target', ok('early')],
        ['visitor', `cd${get('/b')}`],
        ['target', ok('late')],
      ],
      ['POST /a HTTP/1.1 | abcd | HTTP/1.1 200 OK | early', 'GET /b HTTP/1.1 |  | HTTP/1.1 200 OK | late'],
      0,
    ],
    'a visitor that leaves': [
      [['visitor', 'POST /a HTTP/1.1\r\nContent-Length: 4\r\n\r\nab'], 'over'],
      ['POST /a HTTP/1.1 | ab? | - | ?'],
      0,
    ],
    'an interim answer and no other': [
      [['visitor', get('/a')], ['target', 'HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n'], 'over'],
      ['GET /a HTTP/1.1 |  | - | ?'],
      0,
    ],
    'an upgrade, whose bytes are not kept': [
      [
        ['visitor', get('/ws')],
        ['target', 'HTTP/1.1 101 Switching Protocols\r\n\r\nframes'],
        ['visitor', get('/no')],
      ],
      ['GET /ws HTTP/1.1 |  | HTTP/1.1 101 Switching Protocols | '],
      0,
    ],
    'what is no HTTP': [
      [
        ['visitor', `${get('/a')}\u0000garbage\r\n\r\n`],
        ['target', ok('x')],
        ['visitor', get('/no')],
      ],
      ['GET /a HTTP/1.1 |  | HTTP/1.1 200 OK | x'],
      1,
    ],
    'a target that speaks no HTTP': [
      [
        ['visitor', get('/a')],
        ['target', 'garbage\r\n\r\n'],
      ],
      ['GET /a HTTP/1.1 |  | - | ?'],
      1,
    ],
  };

suite('what passes is recorded, however its bytes are cut', () => {
  for (const [name, [steps, kept, gaveUp]] of Object.entries(recordings)) {
    test(name, () => {
      for (const size of [Infinity, 1, 2, 3, 7])
        assert.deepEqual(record(steps, size), { kept, gaveUp }, `pieces of ${size}`);
    });
  }
});

const isLong = process.env['TEST_LONG'] === '1';

test('whatever passes, nothing is thrown, and what is described is printable', () => {
  const seeds = isLong ? 200_000 : 3000;
  const first = Number(process.env['TEST_SEED'] ?? (isLong ? Date.now() % 1_000_000_000 : 0));
  const texts = Object.values(conversations)
    .flatMap(([steps]) => steps)
    .filter((step) => typeof step !== 'string')
    .filter(([, text]) => text.length < 1000);
  for (let seed = first; seed < first + seeds; seed++) {
    const random = new Random(Math.imul(seed + 1, 0x9e3779b1));
    const steps = Array.from({ length: 1 + random.below(8) }, (): Step => {
      const [from, text] = random.pick(texts);
      const at = random.below(text.length);
      const spoilt = String.fromCharCode(random.below(256));
      return [from, random.below(3) === 0 ? text : text.slice(0, at) + spoilt + text.slice(at + random.below(3))];
    });
    const described = describe([...steps, 'over'], 1 + random.below(40));
    record([...steps, 'over'], 1 + random.below(40));
    assert.ok(
      described.every((line) => /^[\x20-\x7e]+$/.test(line)),
      `TEST_SEED=${seed}: ${JSON.stringify(described)}`,
    );
  }
});
