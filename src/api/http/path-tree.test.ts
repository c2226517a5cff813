import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { maxParamLength, PathTree } from './path-tree.ts';

const tree = new PathTree<string>();
for (const path of [
  '/',
  '/keys',
  '/keys/:id',
  '/keys/mine',
  '/keys/:key_id/uses/:id',
  '/files',
  '/files/*',
  '/files/index',
]) {
  tree.add(path, path);
}

function find(target: string) {
  const found = tree.find(target);
  return found && [found.value, ...Object.entries(found.params).flat()];
}

describe('a path', () => {
  test('is found with its parameters, and a word goes before a parameter', () => {
    assert.deepEqual(find('/'), ['/']);
    assert.deepEqual(find('/keys'), ['/keys']);
    assert.deepEqual(find('/keys/ak_1'), ['/keys/:id', 'id', 'ak_1']);
    assert.deepEqual(find('/keys/mine'), ['/keys/mine']);
    assert.deepEqual(find('/keys/a/uses/b'), ['/keys/:key_id/uses/:id', 'key_id', 'a', 'id', 'b']);
    assert.deepEqual(find('/keys/mine/uses/b'), ['/keys/:key_id/uses/:id', 'key_id', 'mine', 'id', 'b']);
  });

  test('that is none is not found', () => {
    for (const target of ['', '*', 'keys', '//', '//keys', '/keys/', '/keys//uses/b', '/keys/a/', '/Keys', '/key']) {
      assert.equal(find(target), undefined, target);
    }
    assert.equal(find(`/keys/${'a'.repeat(maxParamLength + 1)}`), undefined);
    assert.deepEqual(find(`/keys/${'a'.repeat(maxParamLength)}`)?.[0], '/keys/:id');
  });

  test('below a folder is found, unless it has one of its own', () => {
    assert.deepEqual(find('/files'), ['/files']);
    assert.deepEqual(find('/files/'), ['/files/*']);
    assert.deepEqual(find('/files/a/b'), ['/files/*']);
    assert.deepEqual(find('/files/index'), ['/files/index']);
    assert.deepEqual(find('/files/index/a'), ['/files/*']);
  });

  test('is read without its query, and its parts are decoded one by one', () => {
    assert.deepEqual(find('/keys?limit=1'), ['/keys']);
    assert.deepEqual(find('/keys/a#b/c'), ['/keys/:id', 'id', 'a']);
    assert.deepEqual(find('/%6Beys/a%2Fuses%2Fb%25'), ['/keys/:id', 'id', 'a/uses/b%']);
    assert.equal(find('/keys%2Fa'), undefined);
    for (const broken of ['/keys/%', '/keys/%zz', '/keys/%c3%28']) assert.equal(find(broken), undefined, broken);
  });

  test('may follow the host that it is asked of', () => {
    assert.deepEqual(find('http://api.example.com/keys/a?b'), ['/keys/:id', 'id', 'a']);
    assert.deepEqual(find('https://api.example.com:8080/'), ['/']);
    assert.equal(find('http://api.example.com'), undefined);
    assert.equal(find('ftp://api.example.com/keys'), undefined);
  });

  test('has the parameters that it names, and no others', () => {
    tree.add('/odd/:constructor', 'odd');
    assert.deepEqual(find('/odd/x'), ['odd', 'constructor', 'x']);
    assert.equal(find('/__proto__'), undefined);
    assert.equal(find('/constructor'), undefined);
  });
});
