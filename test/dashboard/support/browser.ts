import { chromium } from 'playwright-core';
import type { Browser } from 'playwright-core';

import { findChromium } from './find-chromium.ts';

export interface SharedBrowser extends AsyncDisposable {
  /** WebSocket URL for `TEST_BROWSER_URL`. */
  readonly url: string;
}

/** Starts one browser for the files of a run. */
export async function startSharedBrowser(): Promise<SharedBrowser> {
  const server = await chromium.launchServer({ ...launchOptions(), ...leaveSignals, host: '127.0.0.1' });
  return { url: server.wsEndpoint(), [Symbol.asyncDispose]: () => server.close() };
}

/** The shared browser, where its contexts are those of this file only; a file that runs alone starts its own. */
export function openBrowser(): Promise<Browser> {
  const url = process.env['TEST_BROWSER_URL'];
  return url === undefined ? chromium.launch(launchOptions()) : chromium.connect(url);
}

/** The runner ends the browser itself, and everything else that runs. */
const leaveSignals = { handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false };

function launchOptions() {
  return {
    executablePath: findChromium(process.env),
    // Root has no sandbox, and a container often has little shared memory.
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  };
}
