import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import { until } from '../../test/e2e/gateway/support/until.ts';
import { buildDashboard } from './build-dashboard.ts';

/** Appends a line at each build. */
const script = 'echo built >> dashboard/builds && mkdir -p dashboard/dist && echo page > dashboard/dist/index.html';

async function makeProject(context: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-build-'));
  context.after(() => rm(folder, { recursive: true, force: true }));
  await mkdir(join(folder, 'dashboard'));
  await writeFile(join(folder, 'dashboard/index.html'), 'source');
  const lines: string[] = [];
  const keep = (...args: unknown[]) => void lines.push(String(args.at(-1)));
  return { folder, lines, log: { info: keep, error: keep } };
}

test('a missing dashboard is built once, also by processes that start together, and never again', async (context) => {
  const { folder, log, lines } = await makeProject(context);
  using building = buildDashboard(log, { folder, script });
  assert.ok(building);
  assert.equal(buildDashboard(log, { folder, script }), undefined, 'another process builds');
  await until(() => lines.includes('the dashboard is built'), 'the build ends');
  assert.equal(await readFile(join(folder, 'dashboard/builds'), 'utf8'), 'built\n');
  assert.equal(buildDashboard(log, { folder, script }), undefined, 'it is there');
});

test('a build that fails is one line in the log, and the next start tries again', async (context) => {
  const { folder, log, lines } = await makeProject(context);
  using failing = buildDashboard(log, { folder, script: 'exit 3' });
  assert.ok(failing);
  await until(() => lines.length === 2, 'the build ends');
  assert.match(lines[1] ?? '', /could not be built: run "npm run build:dashboard"/);
  using next = buildDashboard(log, { folder, script });
  assert.ok(next);
  await until(() => lines.includes('the dashboard is built'), 'the second build ends');
});

test('nothing is built without sources or without a script, nor for ever refused after an interrupted build', async (context) => {
  const { folder, log, lines } = await makeProject(context);
  assert.equal(buildDashboard(log, { folder, script: undefined }), undefined);
  assert.equal(buildDashboard(log, { folder: join(folder, 'dashboard'), script }), undefined);
  const lock = join(folder, 'dashboard/.building');
  await writeFile(lock, '');
  assert.equal(buildDashboard(log, { folder, script }), undefined);
  await utimes(lock, new Date(0), new Date(0));
  using building = buildDashboard(log, { folder, script });
  assert.ok(building);
  await until(() => lines.includes('the dashboard is built'), 'the build ends');
});
