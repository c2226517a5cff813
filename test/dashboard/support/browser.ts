import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';

import { isEndTold, whenAllHaveEnded } from '../../support/at-end.ts';
import { findChromium } from './find-chromium.ts';

let shared: Promise<Browser> | undefined;

/**
 * A browser for as long as it is not disposed of. Files that run in one process of the tests share it, where each has contexts
 * of its own: one for all processes of a run would be told everything twice.
 */
export async function openBrowser(): Promise<Browser> {
  if (!isEndTold()) return launch();
  if (shared === undefined) {
    shared = launch();
    whenAllHaveEnded(async () => (await shared)?.close());
  }
  return shared;
}

/** Closes all that a file has opened in it, and the browser too where it is that of this file only. */
export async function leaveBrowser(browser: Browser | undefined): Promise<void> {
  if (browser === undefined) return;
  if (browser !== (await shared)) await browser.close();
  else await Promise.all(browser.contexts().map((context) => context.close()));
}

function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: findChromium(process.env),
    // Root has no sandbox, and a container often has little shared memory.
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  });
}
