import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { chooseCoding } from './accept-encoding.ts';
import { answering } from '../../../test/support/step-visit.ts';
import { encodeAnswer, encodeResponse } from './encode-response.ts';
import { offeredCodings } from './encoders.ts';

const all = ['br', 'zstd', 'gzip'] as const;

suite('the coding is the one that the client likes best', () => {
  const cases: readonly (readonly [accept: string | undefined, coding: string | undefined])[] = [
    [undefined, undefined],
    ['', undefined],
    ['gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['x-gzip', 'gzip'],
    ['gzip, deflate, br, zstd', 'br'],
    ['gzip, deflate, zstd', 'zstd'],
    ['deflate, compress', undefined],
    ['br;q=0.5, gzip;q=0.8', 'gzip'],
    ['br;q=0.8 , zstd ; q=0.8, gzip;q=0.8', 'br'],
    ['br;q=0, gzip', 'gzip'],
    ['br;q=0.000, zstd;q=0', undefined],
    ['*', 'br'],
    ['*;q=0', undefined],
    ['gzip, *;q=0', 'gzip'],
    ['br;q=0, *', 'zstd'],
    ['gzip;q=0.5, *;q=0.1', 'gzip'],
    ['identity', undefined],
    ['identity;q=0', undefined],
    ['identity;q=0, *', 'br'],
    ['identity, gzip;q=0.5', undefined],
    ['identity;q=0.5, gzip;q=0.5', 'gzip'],
    ['identity;q=0.1, gzip;q=0.5', 'gzip'],
    ['gzip;q=2', undefined],
    ['gzip;q=0.1234', undefined],
    ['gzip;q=', undefined],
    ['gzip;level=9', undefined],
    ['br;q=1.000', 'br'],
    [', ,gzip,,', 'gzip'],
    ['\tgzip\t;\tq=1', 'gzip'],
    ['gzipped', undefined],
  ];
  for (const [accept, coding] of cases) {
    test(`${JSON.stringify(accept)}: ${coding ?? 'none'}`, () => {
      assert.equal(chooseCoding(accept, all), coding);
    });
  }

  test('a coding that is not offered is passed over', () => {
    assert.equal(chooseCoding('br;q=0.1, zstd', ['br', 'gzip']), 'br');
    assert.deepEqual(offeredCodings, all);
  });
});

const request = { method: 'GET', headers: ['Accept-Encoding', 'gzip'], mayEncode: () => true };

function encode(headers: readonly string[], more: object = {}, asked: readonly string[] = request.headers) {
  return encodeResponse({ ...request, headers: asked }, { status: 200, headers, contentLength: 5000, ...more });
}

/** True: a client that accepts gzip gets it. */
function isEncoded(headers: readonly string[], more: object = {}): boolean {
  return encode(headers, more)?.openTransform !== undefined;
}

suite('text-like bodies are encoded, others are not', () => {
  const types: Readonly<Record<string, boolean>> = {
    'text/html; charset=utf-8': true,
    'TEXT/CSS ;charset="a;b"': true,
    'application/json': true,
    'application/problem+json': true,
    'application/javascript': true,
    'application/wasm': true,
    'application/atom+xml;type=feed': true,
    'image/svg+xml': true,
    'application/x-ndjson': true,
    'font/ttf': true,
    'text/event-stream': false,
    'Text/Event-Stream; charset=utf-8': false,
    'application/grpc': false,
    'application/grpc+json': false,
    'application/grpc-web+json': false,
    'application/octet-stream': false,
    'application/zip': false,
    'image/png': false,
    'font/woff2': false,
    'video/mp4': false,
    'multipart/x-mixed-replace; boundary=text/': false,
    '': false,
  };
  for (const [type, encoded] of Object.entries(types)) {
    test(JSON.stringify(type), () => assert.equal(isEncoded(['Content-Type', type]), encoded));
  }

  test('no type at all', () => assert.equal(isEncoded([]), false));
});

suite('responses that must stay as they are', () => {
  const html = ['Content-Type', 'text/html'];

  test('short ones, from what they announce', () => {
    assert.equal(isEncoded(html, { contentLength: 0 }), false);
    assert.equal(isEncoded(html, { contentLength: 1023 }), false);
    assert.equal(isEncoded(html, { contentLength: 1024 }), true);
    assert.equal(isEncoded(html, { contentLength: undefined }), true);
  });

  test('those without a body, or with a part of one', () => {
    for (const status of [204, 205, 206, 304]) assert.equal(encode(html, { status }), undefined);
    for (const status of [200, 203, 404, 500]) assert.equal(isEncoded(html, { status }), true);
    assert.equal(encode([...html, 'Content-Range', 'bytes */9']), undefined);
  });

  test('those that are encoded already', () => {
    for (const coding of ['gzip', 'br', 'aes128gcm', 'identity, gzip', 'gzip, identity']) {
      assert.equal(encode([...html, 'content-encoding', coding]), undefined);
    }
    const { headers } = encode([...html, 'Content-Encoding', 'identity']) ?? {};
    assert.deepEqual(headers, [...html, 'Vary', 'Accept-Encoding', 'Content-Encoding', 'gzip']);
  });

  test('those that forbid it, or carry a digest of their bytes', () => {
    assert.equal(encode([...html, 'Cache-Control', 'max-age=5', 'cache-control', 'a, No-Transform']), undefined);
    assert.equal(isEncoded([...html, 'Cache-Control', 'no-store']), true);
    for (const name of ['Content-MD5', 'Digest', 'Content-Digest', 'Repr-Digest']) {
      assert.equal(encode([...html, name, 'x']), undefined);
    }
  });

  test('those to a request that forbids it, which vary all the same', () => {
    const asked = ['Accept-Encoding', 'gzip', 'Cache-Control', 'no-transform'];
    assert.deepEqual(encode(html, {}, asked), { headers: [...html, 'Vary', 'Accept-Encoding'] });
  });
});

suite('headers', () => {
  const html = ['Content-Type', 'text/html'];

  test('what is true only of the upstream’s bytes is changed or dropped', () => {
    const { headers } = encode(['ETag', '"a"', ...html, 'Accept-Ranges', 'bytes', 'X-One', '1', 'X-One', '2']) ?? {};
    const kept = ['ETag', 'W/"a"', ...html, 'X-One', '1', 'X-One', '2'];
    assert.deepEqual(headers, [...kept, 'Vary', 'Accept-Encoding', 'Content-Encoding', 'gzip']);
    assert.deepEqual(encode(['ETag', 'W/"a"', ...html])?.headers.slice(0, 2), ['ETag', 'W/"a"']);
  });

  test('a client that does not accept any coding gets what it would get, and Vary', () => {
    const plain = ['ETag', '"a"', ...html, 'Accept-Ranges', 'bytes'];
    for (const asked of [[], ['Accept-Encoding', 'deflate']]) {
      assert.deepEqual(encode(plain, {}, asked), { headers: [...plain, 'Vary', 'Accept-Encoding'] });
    }
  });

  test('Vary is added to what the upstream says of it, once', () => {
    const varied = (...vary: readonly string[]) => encode([...vary, ...html], {}, [])?.headers;
    assert.deepEqual(varied('vary', 'Origin', 'Vary', 'Cookie'), [...html, 'Vary', 'Origin, Cookie, Accept-Encoding']);
    assert.deepEqual(varied('Vary', 'accept-encoding'), ['Vary', 'accept-encoding', ...html]);
    assert.deepEqual(varied('Vary', '*'), ['Vary', '*', ...html]);
  });

  test('304 names the tag that the client was given', () => {
    const notModified = (known: string, tag: string) =>
      encode(['ETag', tag], { status: 304, contentLength: undefined }, ['If-None-Match', known]);
    const weak = { headers: ['ETag', 'W/"a"', 'Vary', 'Accept-Encoding'] };
    assert.deepEqual(notModified('W/"a"', '"a"'), weak);
    assert.deepEqual(notModified('"b", W/"a"', '"a"'), weak);
    assert.equal(notModified('"a"', '"a"'), undefined);
    assert.equal(notModified('W/"b"', '"a"'), undefined);
    assert.equal(notModified('W/"a"', 'W/"a"'), undefined);
  });
});

test('a response that may not be encoded now is sent as it is', () => {
  const html = ['Content-Type', 'text/html'];
  const mayEncode = () => false;
  const response = { status: 200, headers: html, contentLength: 5000 };
  assert.deepEqual(encodeResponse({ ...request, mayEncode }, response), {
    headers: [...html, 'Vary', 'Accept-Encoding'],
  });
  assert.equal(isEncoded(html), true);
});

test('a body of unknown length is encoded, and none of an answer that is no answer of HTTP', () => {
  const headers = ['Content-Type', 'text/plain'];
  const asked = { method: 'GET', headers: ['Accept-Encoding', 'gzip'] };
  const given = { ...answering(headers), request: asked, contentLength: 5000, mayEncode: () => true };
  const [encoded, kept] = [{ ...given }, { ...given, isEncodable: false }];
  encodeAnswer(encoded);
  encodeAnswer(kept);
  assert.deepEqual([encoded.contentLength, encoded.openTransform === undefined], [undefined, false]);
  assert.deepEqual(kept, { ...given, isEncodable: false });
});
