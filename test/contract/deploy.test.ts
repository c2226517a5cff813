import assert from 'node:assert/strict';
import { test } from 'node:test';

import { describeSettings, readConfig } from '../../src/config/config.ts';
import { remoteVariables } from '../../src/config/remote-variables.ts';
import { readRootFile } from './support/source-files.ts';

const environmentFile = readRootFile('deploy/gatehouse.env');
const unit = readRootFile('deploy/gatehouse.service');
const ofCommands = new Set<string>(Object.values(remoteVariables));
const settings = new Map(describeSettings().map(({ variable, fallback }) => [variable, fallback]));

test('the environment file has every setting once, with its default, and no other', () => {
  assert.ok(settings.size > 20, `found only ${settings.size} settings`);
  const lines = [...environmentFile.matchAll(/^#(GATEHOUSE_\w+)=(.*)$/gm)];
  assert.deepEqual(new Map(lines.map(([, name = '', value = '']) => [name, value])), settings);
  assert.equal(lines.length, settings.size);
});

test('the environment file sets nothing as it is delivered, and can be taken whole', () => {
  assert.deepEqual(
    environmentFile.split('\n').filter((line) => line !== '' && !line.startsWith('#')),
    [],
  );
  const uncommented = Object.fromEntries(
    [...environmentFile.matchAll(/^#(GATEHOUSE_\w+)=(.*)$/gm)].map(([, name = '', value = '']) => [name, value]),
  );
  assert.deepEqual(readConfig(uncommented, {}), readConfig({}, {}));
});

test('the unit waits longer for a stop than connections may drain', () => {
  const stopSeconds = Number(/^TimeoutStopSec=(\d+)s$/m.exec(unit)?.[1]);
  assert.ok(stopSeconds > Number(settings.get('GATEHOUSE_DRAIN_SECONDS')) + 10, `${stopSeconds} s`);
});

test('pages, unit and front examples name no setting that does not exist', () => {
  for (const path of ['docs/operating.md', 'deploy/gatehouse.service', 'deploy/nginx.conf', 'deploy/haproxy.cfg']) {
    const named = new Set(readRootFile(path).match(/GATEHOUSE_[A-Z0-9_]+/g));
    assert.ok(named.size > 0, path);
    assert.deepEqual(
      [...named].filter((name) => !settings.has(name) && !ofCommands.has(name)),
      [],
      path,
    );
  }
});
