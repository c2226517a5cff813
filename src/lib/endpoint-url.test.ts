import assert from 'node:assert/strict';
import { test } from 'node:test';

import { formatEndpointUrl, readEndpointUrl, wildcardsAbove } from './endpoint-url.ts';

test('a URL of an endpoint is a scheme, a host and perhaps a port', () => {
  for (const [text, form] of [
    ['https://App.Example.com', 'https://app.example.com'],
    ['https://app.example.com:443', 'https://app.example.com'],
    ['HTTP://app.internal:80', 'http://app.internal'],
    ['http://app.internal:8080', 'http://app.internal:8080'],
    ['tls://*.db.internal', 'tls://*.db.internal'],
    ['tcp://db.internal:5432', 'tcp://db.internal:5432'],
  ] as const) {
    const read = readEndpointUrl(text);
    assert.ok(read.ok, text);
    assert.equal(formatEndpointUrl(read.url), form);
  }
});

test('what is no URL of an endpoint is refused with its fault', () => {
  for (const [text, fault] of [
    ['app.example.com', 'no_scheme'],
    ['', 'no_scheme'],
    ['ftp://app.example.com', 'scheme'],
    ['https://app.example.com/', 'form'],
    ['https://app.example.com/path', 'form'],
    ['https://app.example.com?a', 'form'],
    ['https://user@app.example.com', 'form'],
    [`https://${'a.'.repeat(200)}internal`, 'form'],
    ['https://', 'host'],
    ['https://a..b', 'host'],
    ['https://[::1]', 'host'],
    ['https://10.0.0.1', 'host'],
    ['https://*', 'host'],
    ['https://app.example.com:', 'port'],
    ['https://app.example.com:0', 'port'],
    ['https://app.example.com:65536', 'port'],
    ['https://app.example.com:8:0', 'port'],
    ['tcp://db.internal', 'no_port'],
  ] as const)
    assert.deepEqual(readEndpointUrl(text), { ok: false, fault }, text);
});

test('a name is below each wildcard that ends as it does', () => {
  assert.deepEqual([...wildcardsAbove('a.b.internal')], ['*.b.internal', '*.internal']);
  assert.deepEqual([...wildcardsAbove('internal')], []);
});
