import { setTimeout as sleep } from 'node:timers/promises';

import type { Target } from './targets.ts';

const patienceMs = 3000;
const lookMs = 200;
/** Share of a core that a quiet program uses. */
const quietShare = 0.15;

/** A target that is started anew where an attack has left something behind, which would not be calm. */
export class FreshTarget implements AsyncDisposable {
  readonly #start: () => Promise<Target>;
  #target: Target | undefined;

  constructor(start: () => Promise<Target>) {
    this.#start = start;
  }

  async take(): Promise<Target> {
    if (this.#target !== undefined && !(await isQuiet(this.#target))) await this[Symbol.asyncDispose]();
    if (this.#target === undefined) {
      this.#target = await this.#start();
      await isQuiet(this.#target);
    }
    return this.#target;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const target = this.#target;
    this.#target = undefined;
    await target?.[Symbol.asyncDispose]();
  }
}

/** Waits for a while until what an attack has left behind is worked off; returns false if it goes on. */
export async function isQuiet({ process: program }: Target): Promise<boolean> {
  const endMs = performance.now() + patienceMs;
  while (performance.now() < endMs) {
    const before = program.processorSeconds;
    await sleep(lookMs);
    if (program.processorSeconds - before < (quietShare * lookMs) / 1000) return true;
  }
  return false;
}
