import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

import axe from 'axe-core';
import type { Page } from 'playwright-core';

import { until } from '../../e2e/gateway/support/until.ts';
import { isSampled, isTried, pick } from '../../support/sample.ts';
import { lead } from './dashboard.ts';

interface View {
  readonly width: number;
  readonly height: number;
  readonly theme: 'light' | 'dark';
}

/** Name of a page or dialog, and its path below `/dashboard`. */
export type NamedPath = readonly [name: string, path: string];

/** Pictures of every page, to be looked at; git ignores them. */
const pictures = fileURLToPath(new URL('../shots/', import.meta.url));
const takesPictures = process.env['TEST_PICTURES'] === '1';

const allViews: readonly View[] = (['light', 'dark'] as const).flatMap((theme) => [
  { width: 1440, height: 900, theme },
  { width: 1024, height: 800, theme },
  { width: 390, height: 800, theme },
]);

/** Everything that axe looks for by default, its best practices included. */
const allRules = {};
/** The themes differ in their colours only. */
const colourRules = { runOnly: ['color-contrast', 'link-in-text-block'] };

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/**
 * Leads the page to each path, in a whole run to every other, and looks at it in every view; returns what is wrong with any
 * of them. With `TEST_PICTURES=1` it takes their pictures.
 */
export async function faultsOf(page: Page, paths: readonly NamedPath[]): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const [name, path] of paths) {
    if (!takesPictures && !isTried(2, 'pages that are looked at', name)) continue;
    // Loading the program again for each path would take most of the time.
    await lead(page, path);
    await page.locator('h1').first().waitFor();
    const isLoaded = async () =>
      (await page.locator('.skel, [aria-busy="true"]').count()) === 0 && (await page.locator('h1').count()) > 0;
    await until(isLoaded, `${name} has loaded`);
    faults.push(...(await faultsInViews(page, name)));
  }
  return faults;
}

/**
 * Views of a page, and what axe looks for in each; nothing: only whether it scrolls. All pages are made of the same parts, and
 * looking at them takes most of the time: a whole run looks at each in one view, and at every other with axe.
 */
function viewsOf(name: string): readonly (readonly [View, object | undefined])[] {
  if (!isSampled || takesPictures)
    return allViews.map((view) => [view, view.theme === 'light' ? allRules : colourRules]);
  const rules = isTried(2, 'pages for axe', name) ? allRules : undefined;
  return pick(allViews, 1, ['view of a page', name]).map((view) => [view, rules]);
}

/** The same for the page as it is now. Its size is the same afterwards. */
async function faultsInViews(page: Page, name: string): Promise<readonly string[]> {
  const before = page.viewportSize();
  const faults: string[] = [];
  for (const [view, rules] of viewsOf(name)) {
    const { width, height, theme } = view;
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    await page.setViewportSize({ width, height });
    const found = await faultsOfPage(page, name, view, rules);
    faults.push(...found.map((fault) => `${width} px, ${theme}: ${fault}`));
  }
  if (before !== null) await page.setViewportSize(before);
  return faults;
}

async function faultsOfPage(
  page: Page,
  name: string,
  { width, theme }: View,
  rules: object | undefined,
): Promise<readonly string[]> {
  if (takesPictures) {
    await mkdir(pictures, { recursive: true });
    await page.screenshot({ path: `${pictures}${name}-${width}-${theme}.png`, fullPage: true });
  }
  const violations = rules === undefined ? [] : await violationsOf(page, rules);
  const isSideways = await page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');
  return [...violations, ...(isSideways === true ? ['scrolls sideways'] : [])].map((fault) => `${name}: ${fault}`);
}

/** Fails on anything that is wrong with the page as it is now, in any view. */
export async function lookAt(page: Page, name: string): Promise<void> {
  assert.deepEqual(await faultsInViews(page, name), []);
}

/** Faults that a screen reader would stumble over; the content security policy lets no script in but through the browser. */
async function violationsOf(page: Page, rules: object): Promise<readonly string[]> {
  if ((await page.evaluate('typeof axe')) === 'undefined') {
    const session = await page.context().newCDPSession(page);
    await session.send('Runtime.evaluate', { expression: axe.source });
    await session.detach();
  }
  // The form in which axe answers.
  const { violations } = (await page.evaluate(
    `axe.run(${JSON.stringify({ resultTypes: ['violations'], ...rules })})`,
  )) as {
    readonly violations: readonly Violation[];
  };
  return violations.map(({ id, nodes: [node] }) => `${id}: ${node?.html} ${node?.failureSummary}`);
}
