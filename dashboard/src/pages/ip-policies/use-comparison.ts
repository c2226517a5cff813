import { useEffect, useMemo, useRef, useState } from 'react';

import type { FromWorker, ToWorker } from './list-worker.ts';
import { compareList } from './rule-list.ts';
import type { Comparison, Mode } from './rule-list.ts';
import type { Rule } from './use-rules.ts';

/** Compares a text with rules in a worker, so that typing never waits. `isCurrent` is false while it works. */
export function useComparison(
  rules: readonly Rule[],
  text: string,
  mode: Mode,
): { readonly comparison: Comparison | undefined; readonly isCurrent: boolean } {
  const worker = useRef<Worker>(null);
  const newest = useRef(0);
  /** The rules that the worker has. */
  const sent = useRef<readonly Rule[]>(null);
  const [answer, setAnswer] = useState<FromWorker>();
  const [asked, setAsked] = useState(0);
  const [isBroken, setBroken] = useState(false);

  useEffect(() => {
    const started = new Worker(new URL('./list-worker.ts', import.meta.url), { type: 'module' });
    started.addEventListener('message', ({ data }: MessageEvent<FromWorker>) => {
      if (data.id === newest.current) setAnswer(data);
    });
    // The worker's code could not be loaded: the list that somebody has pasted is compared here.
    started.addEventListener('error', () => setBroken(true));
    worker.current = started;
    sent.current = null;
    return () => started.terminate();
  }, []);

  useEffect(() => {
    if (sent.current !== rules) {
      const inForce: ToWorker = { kind: 'rules', rules: rules.map(({ cidr, action }) => [cidr, action] as const) };
      worker.current?.postMessage(inForce);
      sent.current = rules;
    }
    newest.current += 1;
    const message: ToWorker = { kind: 'text', id: newest.current, text, mode };
    worker.current?.postMessage(message);
    setAsked(newest.current);
  }, [rules, text, mode]);

  const own = useMemo(
    () =>
      isBroken ? compareList(text, new Map(rules.map(({ cidr, action }) => [cidr, action] as const)), mode) : undefined,
    [isBroken, rules, text, mode],
  );
  if (own !== undefined) return { comparison: own, isCurrent: true };
  return { comparison: answer?.comparison, isCurrent: answer?.id === asked };
}
