import assert from 'node:assert/strict';
import { test } from 'node:test';

import { onDashboard } from './support/dashboard.ts';

/** Names of a list that are not read whole, and ports that begin in one line and end in the next. */
const unreadable = `(() => {
  const main = document.querySelector('main');
  const cut = [...main.querySelectorAll('.tbl td:first-child .main')]
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
    .map(({ textContent }) => 'cut: ' + textContent);
  const broken = [];
  const texts = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    for (const { index, 0: port } of text.data.matchAll(/:\\d+/g)) {
      const range = document.createRange();
      range.setStart(text, index);
      range.setEnd(text, index + port.length);
      if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) broken.push('broken: ' + text.data);
    }
  }
  return [...cut, ...broken];
})()`;

onDashboard('on a phone', (d) => {
  test('names are read whole beside their badges, and no port is broken over lines', async () => {
    const { gatehouse } = d();
    const host = 'gate.kestrel.example';
    const policy = await gatehouse.create('/ip_policies', { description: 'Offices, home offices and jump hosts' });
    await gatehouse.put(`/ip_policies/${policy.id}/rules`, ['127.0.0.1/32']);
    const description = 'backups of every night';
    await gatehouse.create('/api_keys', { description, read_only: true, ip_policy_ids: [policy.id] });
    const backend = await gatehouse.create('/backends/static', { address: `upstream.${host}:10101` });
    const module = { backend_id: backend.id };
    const tcp = await gatehouse.create('/edges/tcp', { hostports: [`${host}:10101`], backend: module });
    const https = await gatehouse.create('/edges/https', { hostports: [`of.the.north.${host}:443`] });
    await gatehouse.create(`/edges/https/${https.id}/routes`, {
      match_type: 'path_prefix',
      match: '/',
      backend: module,
    });
    const tls = await gatehouse.create('/edges/tls', { hostports: [`far.north.${host}:443`], backend: module });
    const page = await d().open({ path: '/api-keys' });
    await page.setViewportSize({ width: 390, height: 800 });
    await page.getByText('Own addresses').waitFor();
    for (const [path, shown] of [
      ['/api-keys', description],
      ['/ip-policies', 'jump hosts'],
      ['/tcp-edges', host],
      [`/tcp-edges/${tcp.id}`, host],
      ['/https-edges', host],
      [`/https-edges/${https.id}`, host],
      ['/tls-edges', host],
      [`/tls-edges/${tls.id}`, host],
      ['/backends', host],
      [`/backends/${backend.id}`, host],
    ] as const) {
      await page.goto(`/dashboard${path}`);
      await page.getByRole('main').getByText(shown).first().waitFor();
      await page.locator('.skel, [aria-busy="true"]').first().waitFor({ state: 'detached' });
      for (const width of [320, 390]) {
        await page.setViewportSize({ width, height: 800 });
        assert.deepEqual(await page.evaluate(unreadable), [], `${path} at ${width}`);
      }
    }
  });
});
