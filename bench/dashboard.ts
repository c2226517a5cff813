import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';

import { findChromium } from '../test/dashboard/support/find-chromium.ts';
import { signInWithoutForm } from '../test/dashboard/support/sign-in.ts';
import { Gatehouse } from '../test/support/gatehouse.ts';

/**
 * `npm run bench:dashboard`: how long a list page takes from the click to rows that can be used, in a browser with an empty
 * cache, before a server with 1,000 policies; beside it, how long the same browser takes for one small static file.
 */
const policies = 1000;
const rounds = 15;

await using stack = new AsyncDisposableStack();
const folder = await mkdtemp(join(tmpdir(), 'gatehouse-bench-'));
stack.defer(() => rm(folder, { recursive: true, force: true }));
const gatehouse = stack.use(await Gatehouse.start(`sqlite:${join(folder, 'gatehouse.db')}`));
for (let made = 0; made < policies; made += 1) {
  await gatehouse.create('/ip_policies', { description: `policy ${made}` });
}
const browser = await chromium.launch({
  executablePath: findChromium(process.env),
  args: ['--no-sandbox', '--disable-dev-shm-usage'],
});
stack.defer(() => browser.close());

const figures = { rows: [] as number[], paint: [] as number[], file: [] as number[] };
for (let round = 0; round <= rounds; round += 1) {
  const measured = await measure(browser);
  // The first round warms the server and the files of the browser.
  if (round === 0) continue;
  figures.rows.push(measured.rows);
  figures.paint.push(measured.paint);
  figures.file.push(measured.file);
}
const rowsMs = median(figures.rows);
const fileMs = median(figures.file);
process.stdout.write(
  `list page with ${policies} policies, cold cache, median of ${rounds}: first paint ${ms(median(figures.paint))}, rows ` +
    `${ms(rowsMs)} (worst ${ms(Math.max(...figures.rows))}); static file ${ms(fileMs)}; ratio ${(rowsMs / fileMs).toFixed(1)}\n`,
);

/** One visit in a browser context of its own, which has an empty cache. Milliseconds since the navigation began. */
async function measure(from: Browser): Promise<{ rows: number; paint: number; file: number }> {
  const context = await from.newContext({ baseURL: gatehouse.url });
  try {
    const page = await context.newPage();
    await signInWithoutForm(page, gatehouse.url, gatehouse.token);
    await page.goto('/dashboard/favicon.svg');
    const file = Number(await page.evaluate(`performance.getEntriesByType('navigation')[0].loadEventEnd`));
    await page.addInitScript(`new MutationObserver((_, observer) => {
      if (document.querySelector('[data-row-link]') === null) return;
      observer.disconnect();
      // The frame in which the rows are painted.
      requestAnimationFrame(() => setTimeout(() => { document.documentElement.dataset.rowsAtMs = performance.now(); }));
    }).observe(document, { childList: true, subtree: true })`);
    await page.goto('/dashboard/ip-policies');
    const marked = page.locator('html[data-rows-at-ms]');
    await marked.waitFor();
    const paint = `performance.getEntriesByName('first-contentful-paint')[0].startTime`;
    return {
      rows: Number(await marked.getAttribute('data-rows-at-ms')),
      paint: Number(await page.evaluate(paint)),
      file,
    };
  } finally {
    await context.close();
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

function ms(value: number): string {
  return `${Math.round(value)} ms`;
}
