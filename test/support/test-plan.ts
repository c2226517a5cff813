import { globSync, readFileSync } from 'node:fs';

/** Files of a running order: each list is the work of one process. */
export interface TestPlan {
  /** Processes that mostly wait: for an outage to be noticed, for another server. */
  readonly waiting: readonly (readonly string[])[];
  /** Processes that keep a processor busy, the long ones first. */
  readonly busy: readonly (readonly string[])[];
}

const waiting = ['test/e2e/{acme,agent-failures,failover,many-processes}/*.test.ts'];
/** Those that take longest, so that none is left when all others are done, and whole installations; each file has a process of its own. */
const ownProcess = [
  'test/contract/{background-outages,fuzz,outages,recipes}.test.ts',
  'test/agents/agents-fuzz.test.ts',
  'test/run.test.ts',
  'test/e2e/*.test.ts',
  'test/e2e/{agents,neighbours,soak}/*.test.ts',
];
/** Tests in a browser, which wait for each other's pages: begun first, or they would be left when all others are done. */
const inBrowser = ['test/dashboard/*.test.ts'];
const browserFilesPerProcess = 5;
/** Tests of code in their own process. Several files run in one, which then loads and compiles that code once. */
const sharing = [
  'test/e2e/gateway/*.test.ts',
  'test/{contract,clients,gateway,agents}/**/*.test.ts',
  'src/{api,resources,store}/**/*.test.ts',
  '{src,client/src}/**/*.test.ts',
  'test/*.test.ts',
];
const sharedFilesPerProcess = 16;

/**
 * A file that changes or measures its process needs one of its own; so does one that moves the date forward, behind which ids
 * of the same process never fall back.
 */
const needsOwnProcess =
  /process\.env\[[^\]]*\] = |process\.chdir|process\.on\(|(?<![.\w])mock\.|[eE]ventLoop|memoryUsage|node:v8|'Date'/;

/** Plans a run of all files, or of those that the patterns name. */
export function planTests(patterns: readonly string[]): TestPlan {
  if (patterns.length > 0) {
    const named = new Set(filesOf(patterns));
    const browser = filesOf(inBrowser).filter((file) => named.has(file));
    const shared = sharedFiles().filter((file) => named.has(file));
    const own = named.difference(new Set([...browser, ...shared]));
    return { waiting: [], busy: busyOf(browser, [...own], shared) };
  }
  const plan = {
    waiting: filesOf(waiting).map((file) => [file]),
    busy: busyOf(filesOf(inBrowser), filesOf(ownProcess), sharedFiles()),
  };
  const planned = new Set(Object.values(plan).flat(2));
  const forgotten = globSync('{src,client,dashboard,test,tools,bench}/**/*.test.ts').filter(
    (file) => !planned.has(file),
  );
  if (forgotten.length > 0) throw new Error(`${import.meta.filename} does not plan ${forgotten.join(', ')}`);
  return plan;
}

function busyOf(browser: readonly string[], own: readonly string[], shared: readonly string[]): TestPlan['busy'] {
  return [
    ...together(browser, browserFilesPerProcess),
    ...own.map((file) => [file]),
    ...together(shared, sharedFilesPerProcess),
  ];
}

function sharedFiles(): readonly string[] {
  const own = new Set(filesOf(ownProcess));
  return [...new Set(filesOf(sharing))].filter((file) => !own.has(file));
}

function filesOf(patterns: readonly string[]): readonly string[] {
  return patterns.flatMap((pattern) => {
    const found = globSync(pattern).toSorted();
    if (found.length === 0) throw new Error(`there is no test file ${pattern}`);
    return found;
  });
}

function together(files: readonly string[], filesPerProcess: number): readonly (readonly string[])[] {
  const own = files.filter((file) => needsOwnProcess.test(readFileSync(file, 'utf8')));
  const others = files.filter((file) => !own.includes(file));
  const count = Math.ceil(others.length / filesPerProcess);
  const groups = Array.from({ length: count }, (_, at) =>
    others.slice(at * filesPerProcess, (at + 1) * filesPerProcess),
  );
  return [...own.map((file) => [file]), ...groups];
}
