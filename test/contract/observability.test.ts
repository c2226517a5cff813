import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Gatehouse } from '../support/gatehouse.ts';
import { onDatabasesInTurn } from '../support/each-database.ts';
import { readRootFile } from './support/source-files.ts';

const grafana = readRootFile('deploy/grafana.json');
const alerts = readRootFile('deploy/alerts.yml');
const operating = readRootFile('docs/operating.md');

/** Parts of a histogram, each of which is a sample of its own. */
const parts = /_(bucket|sum|count)$/;

function namesIn(text: string): readonly string[] {
  return [...new Set(text.match(/\b(gatehouse|process|nodejs)_[a-z0-9_]+[a-z0-9]\b/g))];
}

onDatabasesInTurn('pages and alerts over the metrics', (newDatabase) => {
  test('name only metrics that there are, and every one of ours', async () => {
    await using gatehouse = await Gatehouse.start(await newDatabase(), {
      metricsListen: '127.0.0.1:0',
      httpsListen: '127.0.0.1:0',
      agentListen: '127.0.0.1:0',
    });
    const response = await fetch(`http://127.0.0.1:${gatehouse.app.metricsPort}/metrics`);
    const known = new Set([...(await response.text()).matchAll(/^# TYPE (\S+)/gm)].map(([, name = '']) => name));
    const shown = new Set([...namesIn(grafana), ...namesIn(alerts)].flatMap((name) => [name, name.replace(parts, '')]));
    assert.deepEqual(
      [...known].filter((name) => name.startsWith('gatehouse_') && !shown.has(name)),
      [],
      'in neither of them',
    );
    for (const [file, text] of Object.entries({ 'deploy/grafana.json': grafana, 'deploy/alerts.yml': alerts })) {
      const named = namesIn(text);
      assert.ok(named.length > 10, `${file} names only ${named.length} metrics`);
      const unknown = named.filter((name) => !known.has(name) && !known.has(name.replace(parts, '')));
      assert.deepEqual(unknown, [], file);
    }
  });
});

test('the page is a dashboard of Grafana whose panels do not overlap', () => {
  const { panels } = JSON.parse(grafana);
  const taken = new Set<string>();
  for (const { title, gridPos, type, targets } of panels) {
    for (let x = gridPos.x; x < gridPos.x + gridPos.w; x++) {
      for (let y = gridPos.y; y < gridPos.y + gridPos.h; y++) {
        assert.ok(!taken.has(`${x} ${y}`), `${title} lies over another panel`);
        taken.add(`${x} ${y}`);
      }
    }
    assert.ok(type === 'row' || targets.length > 0, title);
  }
  assert.equal(new Set(panels.map(({ id }: { id: number }) => id)).size, panels.length);
});

test('every alert says what is wrong and what to do, and the operating guide names both files', () => {
  const rules = alerts.split('- alert: ').slice(1);
  assert.ok(rules.length > 8);
  for (const rule of rules) {
    for (const key of ['expr: ', 'severity: ', "summary: '", "description: '"]) assert.ok(rule.includes(key), rule);
  }
  for (const file of ['deploy/grafana.json', 'deploy/alerts.yml']) assert.ok(operating.includes(file), file);
});
