import { compareList } from './rule-list.ts';
import type { Action, Comparison, Mode } from './rule-list.ts';

/** The rules in force come once, texts as often as they change. */
export type ToWorker =
  | { readonly kind: 'rules'; readonly rules: readonly (readonly [cidr: string, action: Action])[] }
  | { readonly kind: 'text'; readonly id: number; readonly text: string; readonly mode: Mode };

export interface FromWorker {
  readonly id: number;
  readonly comparison: Comparison;
}

let inForce: ReadonlyMap<string, Action> = new Map();

addEventListener('message', ({ data }: MessageEvent<ToWorker>) => {
  if (data.kind === 'rules') {
    inForce = new Map(data.rules);
    return;
  }
  const answer: FromWorker = { id: data.id, comparison: compareList(data.text, inForce, data.mode) };
  postMessage(answer);
});
