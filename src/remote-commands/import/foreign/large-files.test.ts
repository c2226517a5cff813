import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { CommandFault } from '../../exit.ts';
import { parseFile } from '../../files/parse-file.ts';
import { fromCaddyfile } from './caddyfile.ts';
import { fromKong } from './kong.ts';

/** Milliseconds of the processor. */
function costOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Four times as much costs about four times as much; where each is compared with every other, sixteen times. */
function assertLinear(make: (count: number) => () => void, count: number): void {
  make(count)();
  const [once, fourfold] = [costOf(make(count)), costOf(make(4 * count))];
  assert.ok(fourfold < 10 * once + 50, `${count}: ${once} ms, ${4 * count}: ${fourfold} ms`);
}

const lines = (count: number, line: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => line(at)).join('\n');

suite('files of others, however large', { timeout: 120_000 }, () => {
  test('texts between marks that have no end cost as much as their length', () => {
    const sites = (count: number, line: (at: number) => string) => () => {
      const draft = fromCaddyfile(`a.example.com {\n${lines(count, line)}\n}\n`, 'Caddyfile');
      assert.equal(draft.notTaken().length, 1);
    };
    assertLinear((count) => sites(count, () => '<<E'), 10_000);
    assertLinear((count) => sites(count, (at) => `<<E${at}`), 10_000);
  });

  test('a text between marks ends at the first line that begins with its mark', () => {
    const text = 'respond <<END\n  }\n  ENDING\n  END 200\nreverse_proxy a:1\n';
    const [note] = fromCaddyfile(`a.example.com {\n${text}}\n`, 'Caddyfile').notTaken();
    assert.match(note ?? '', /^line 2: site a\.example\.com: respond <<END 200: /);
  });

  test('snippets that multiply are refused in words', () => {
    const snippets = lines(10, (at) => `(s${at}) {\n${lines(10, () => `import s${at + 1}`)}\n}`);
    assert.throws(
      () => fromCaddyfile(`${snippets}\n(s10) {\nencode gzip\n}\na.example.com {\nimport s0\n}\n`, 'Caddyfile'),
      (error) => error instanceof CommandFault && error.message.startsWith('Caddyfile has more than 50000 lines'),
    );
  });

  test('a redirect is compared with the paths below it, and with no others', () => {
    const site = (count: number) => () => {
      const routes = lines(
        count,
        (at) => `redir /p${at} https://b.example.com/ 302\nhandle /q${at}/* {\nreverse_proxy a:1\n}`,
      );
      fromCaddyfile(`a.example.com {\n${routes}\n}\n`, 'Caddyfile').toYaml('Caddyfile');
    };
    assertLinear(site, 1_000);
    const below = (path: string) =>
      fromCaddyfile(
        `a.example.com {\nredir /p/* https://b.example.com/ 302\nhandle ${path} {\nreverse_proxy a:1\n}\n}\n`,
        'Caddyfile',
      ).notTaken();
    assert.match(below('/p/q/*')[0] ?? '', /redir/);
    for (const path of ['/q/*', '/pq/*', '/o/*', '/p-q/*']) assert.deepEqual(below(path), [], path);
  });

  test('a file of Kong with very many services, routes, upstreams and plugins costs as much as its length', () => {
    const kong = (count: number) => () => {
      const file = {
        services: Array.from({ length: count }, (_, at) => ({ name: `s${at}`, url: `http://u${at}:80` })),
        routes: Array.from({ length: count }, (_, at) => ({
          name: `r${at}`,
          service: { name: `s${at}` },
          hosts: ['a.example.com'],
          paths: [`/p${at}`],
        })),
        upstreams: Array.from({ length: count }, (_, at) => ({ name: `u${at}`, targets: [{ target: 'b:1' }] })),
        plugins: Array.from({ length: count }, (_, at) => ({ name: 'cors', service: { name: `s${at}` } })),
      };
      assert.match(fromKong(JSON.stringify(file), 'kong.yaml').toYaml('kong.yaml'), /\/p7:/);
    };
    assertLinear(kong, 500);
  });

  test('keys that are very many are compared by lookup, and one that is there twice is named with its line', () => {
    assertLinear(
      (count) => () => fromKong(`services: []\n_x:\n${lines(count, (at) => `  k${at}: 1`)}\n`, 'kong.yaml'),
      5_000,
    );
    assert.throws(
      () => fromKong('services: []\n_x:\n  a: 1\n  a: 2\n', 'kong.yaml'),
      /kong\.yaml: line 4: a is there twice/,
    );
  });

  test('what nests too deep is said in words', () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    for (const read of [
      () => fromKong(`services: ${deep}`, 'deep.yaml'),
      () => parseFile('deep.yaml', `static_backends: ${deep}`, () => undefined),
    ])
      assert.throws(read, /^CommandFault: deep\.yaml is nested too deep to be read/);
    const blocks = `${'handle {\n'.repeat(5_000)}${'}\n'.repeat(5_000)}`;
    assert.throws(
      () => fromCaddyfile(`a.example.com {\n${blocks}}\n`, 'Caddyfile'),
      /Caddyfile: line \d+ is in more than 100 blocks/,
    );
  });
});
