import { Pace } from './pace.ts';

/** Work that yields between its steps, to be done at once or in slices. */
export type Steps<T> = Generator<void, T>;

export function finishNow<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Gives way to everything else between steps. */
export async function finishInTurns<T>(steps: Steps<T>, pace = new Pace()): Promise<T> {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (pace.isDue) await pace.giveWay();
  }
}
