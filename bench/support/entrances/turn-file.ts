import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Process } from '../process.ts';

const watch = new URL('../../servers/turn-watch.ts', import.meta.url).href;
const patienceMs = 2000;
let files = 0;

/** Reads how long the turns of a program are, which loads `turn-watch.ts` for it. */
export class TurnFile {
  readonly nodeArguments = ['--import', watch];
  readonly environment: Readonly<Record<string, string>>;
  readonly #file: string;

  constructor(folder: string) {
    this.#file = join(folder, `turns-${(files += 1)}`);
    this.environment = { TURN_FILE: this.#file };
  }

  /** Milliseconds of processor time of the longest turn since the last time this was asked; unknown while one goes on. */
  async read(program: Process): Promise<number> {
    rmSync(this.#file, { force: true });
    program.signal('SIGUSR2');
    const endMs = performance.now() + patienceMs;
    while (!existsSync(this.#file)) {
      if (performance.now() > endMs) return Number.NaN;
      await sleep(5);
    }
    return Number(readFileSync(this.#file, 'utf8'));
  }
}
