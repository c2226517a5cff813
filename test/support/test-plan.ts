import { globSync, readFileSync } from 'node:fs';

/** Files of a running order: each list is the work of one process. */
export interface TestPlan {
  /** Processes that mostly wait: for an outage to be noticed, for another server. */
  readonly waiting: readonly (readonly string[])[];
  /** Processes that keep a processor busy, the long ones first. */
  readonly busy: readonly (readonly string[])[];
}

const waiting = ['test/e2e/{acme,agent-failures,failover,many-processes}/*.test.ts'];
const waitingPerProcess = 2;
/** All others, in the order in which they begin. Several run in one process, which then loads and compiles their code once. */
const kinds: readonly {
  readonly patterns: readonly string[];
  readonly filesPerProcess: number;
  readonly isLast?: true;
}[] = [
  // In a browser, waiting for each other's pages: they would be left when all others are done.
  { patterns: ['test/dashboard/*.test.ts'], filesPerProcess: 8 },
  // Those that take longest.
  {
    patterns: [
      'test/contract/{background-outages,fuzz,outages,recipes}.test.ts',
      'test/agents/agents-fuzz.test.ts',
      'test/run.test.ts',
    ],
    filesPerProcess: 1,
  },
  // Every operation on each database, then every rule about a resource.
  { patterns: ['test/contract/*.test.ts'], filesPerProcess: 5 },
  { patterns: ['src/resources/**/*.test.ts'], filesPerProcess: 20 },
  // Whole installations, whose programs are processes of their own.
  { patterns: ['test/e2e/*.test.ts', 'test/e2e/{agents,neighbours,soak}/*.test.ts'], filesPerProcess: 8 },
  { patterns: ['test/e2e/gateway/*.test.ts'], filesPerProcess: 11 },
  // Code in the process of its tests.
  {
    patterns: [
      'test/{clients,gateway,agents}/**/*.test.ts',
      'src/{api,store}/**/*.test.ts',
      '{src,client/src}/**/*.test.ts',
      'test/{*,support/*}.test.ts',
    ],
    filesPerProcess: 32,
    isLast: true,
  },
];
/** Part of the files left of the last kind that one process takes. */
const partOfLast = 1 / 9;
/** Files that are worth a process, which loads and compiles their code. */
const fewest = 12;

/**
 * A file that changes or measures its process needs one of its own; so does one that moves the date forward, behind which ids
 * of the same process never fall back.
 */
const needsOwnProcess =
  /process\.env\[[^\]]*\] = |process\.chdir|process\.on\(|performance\.now = |(?<![.\w])mock\.|[eE]ventLoop|memoryUsage|node:v8|'Date'/;

/** Plans a run of all files, or of those that the patterns name. */
export function planTests(patterns: readonly string[]): TestPlan {
  if (patterns.length > 0) {
    const named = filesOf(patterns);
    const busy = busyOf(named);
    const planned = new Set(busy.flat());
    return { waiting: [], busy: [...named.filter((file) => !planned.has(file)).map((file) => [file]), ...busy] };
  }
  const all = globSync('{src,client,dashboard,test,tools,bench}/**/*.test.ts');
  const plan = { waiting: together(filesOf(waiting), waitingPerProcess, false), busy: busyOf(all) };
  const planned = new Set(Object.values(plan).flat(2));
  const forgotten = all.filter((file) => !planned.has(file));
  if (forgotten.length > 0) throw new Error(`${import.meta.filename} does not plan ${forgotten.join(', ')}`);
  return plan;
}

/** Those of the files that mostly work. A file of two kinds is of the first. */
function busyOf(files: readonly string[]): TestPlan['busy'] {
  const left = new Set(files);
  return kinds.flatMap(({ patterns, filesPerProcess, isLast = false }) => {
    const own = filesOf(patterns).filter((file) => left.delete(file));
    return together(own, filesPerProcess, isLast);
  });
}

function filesOf(patterns: readonly string[]): readonly string[] {
  return patterns.flatMap((pattern) => {
    const found = globSync(pattern).toSorted();
    if (found.length === 0) throw new Error(`there is no test file ${pattern}`);
    return found;
  });
}

/** The last ones are ever fewer: all processors are busy until the end, not one of them with a long list. */
function together(files: readonly string[], most: number, areLast: boolean): readonly (readonly string[])[] {
  const own = files.filter((file) => needsOwnProcess.test(readFileSync(file, 'utf8')));
  const others = files.filter((file) => !own.includes(file));
  const groups: (readonly string[])[] = [];
  while (others.length > 0) {
    const count = areLast ? Math.max(fewest, Math.ceil(others.length * partOfLast)) : most;
    groups.push(others.splice(0, Math.min(count, most)));
  }
  return [...own.map((file) => [file]), ...groups];
}
