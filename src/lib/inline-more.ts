import { setFlagsFromString } from 'node:v8';

/**
 * Lets V8's optimizing compiler inline more than by default: a request passes through hundreds of small functions, once
 * each, and their calls cost as much as what they do (docs/decisions/0019). A V8 that does not know a flag says so and goes
 * on.
 */
export function inlineMore(): void {
  setFlagsFromString('--max-inlined-bytecode-size-cumulative=4000');
  setFlagsFromString('--min-inlining-frequency=0.02');
}
