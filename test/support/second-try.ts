import { relative } from 'node:path';

import type { Result } from './reporter.ts';

/** What each process of a run has shown, by the files that it ran. */
export type Outcomes = ReadonlyMap<readonly string[], readonly Result[]>;

/** Where more processes fail, it is no matter of a busy machine. */
const mostAgain = 2;

/** The outcomes that get a second try, each with the files that run again. */
export function secondTries(outcomes: Outcomes): readonly {
  readonly group: readonly string[];
  readonly first: readonly Result[];
  readonly files: readonly string[];
}[] {
  const failed = [...outcomes].filter(([, results]) => results.some(({ is }) => is === 'failure'));
  if (failed.length > mostAgain) return [];
  return failed.map(([group, first]) => {
    const tests = first.flatMap((each) => (each.is === 'failed' ? [each.test] : []));
    const failures = first.filter(({ is }) => is === 'failure').length;
    const named = group.filter((file) => tests.some((test) => test.startsWith(`${relative('.', file)}:`)));
    // A failure outside of a test, such as an error after its end, may come from any of the files.
    return { group, first, files: failures === tests.length ? named : group };
  });
}

/** The results of files whose failed tests have passed when they ran again; undefined if not all have. */
export function steadied(first: readonly Result[], again: readonly Result[]): readonly Result[] | undefined {
  const passed = new Set(again.flatMap((each) => (each.is === 'passed' ? [each.test] : [])));
  const hasPassed = first.every((each) => each.is !== 'failed' || passed.has(each.test));
  if (!hasPassed || again.some(({ is }) => is === 'failure')) return undefined;
  // A process that broke off has not come to all of its tests.
  const before = new Set(first.flatMap((each) => (each.is === 'passed' ? [each.test] : [])));
  return [
    ...first.flatMap((each): readonly Result[] => {
      if (each.is === 'failure') return [{ is: 'unsteady', text: each.text }];
      return each.is === 'failed' ? [] : [each];
    }),
    ...again.filter((each) => each.is === 'passed' && !before.has(each.test)),
  ];
}
