import type { EventEmitter } from 'node:events';

import type { Disposable, Page } from 'playwright-core';

/** As a context has it by default. */
const viewport = { width: 1280, height: 720 };

/** A page that goes from test to test, because a new one costs more than what most tests do in it. Each finds it empty. */
export class KeptPage {
  readonly page: Page;
  /** Of any event, which the types of the page do not know. */
  readonly #events: EventEmitter;
  readonly #ownListeners: ReadonlySet<unknown>;
  readonly #scripts: Disposable[] = [];

  constructor(page: Page) {
    this.page = page;
    this.#events = page as unknown as EventEmitter;
    this.#ownListeners = new Set(this.#events.eventNames().flatMap((event) => this.#events.listeners(event)));
  }

  /** Notes what runs in every document of this test only. */
  noteScript(script: Disposable): void {
    this.#scripts.push(script);
  }

  /** Takes back what a test did; false where that cannot be. */
  async empty(): Promise<boolean> {
    const { page } = this;
    const context = page.context();
    if (page.isClosed() || context.pages().length !== 1) return false;
    try {
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await leave(page);
      this.#removeListeners();
      for (const script of this.#scripts.splice(0)) await script.dispose();
      await context.clearCookies();
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
      await page.mouse.move(0, 0);
      await page.evaluate('localStorage.clear(); sessionStorage.clear();');
      // A clock that was installed comes again with every document.
      return (await page.evaluate(`'__pwClock' in globalThis`)) === false;
    } catch {
      return false;
    }
  }

  #removeListeners(): void {
    const events = this.#events;
    for (const event of events.eventNames())
      for (const listener of events.listeners(event))
        // A listener of an event emitter is a function with the arguments of its event.
        if (!this.#ownListeners.has(listener)) events.removeListener(event, listener as () => void);
  }
}

/**
 * Ends what the page does, in a small document of the same origin. One of another origin, `about:blank` too, would cost the
 * page its process, and a new one takes as long as a new page.
 */
export async function leave(page: Page): Promise<void> {
  await page.goto('/dashboard/favicon.svg');
}
