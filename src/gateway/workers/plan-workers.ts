import { readFileSync } from 'node:fs';
import { availableParallelism, platform, totalmem } from 'node:os';
import { dirname, join } from 'node:path';

/** Number of processes that carry traffic. */
export interface WorkerPlan {
  /** Started at once, and always kept. */
  readonly least: number;
  /** Reached only under load. */
  readonly most: number;
  /** Another one is added while the busiest is above this share of its time; default 0.7. */
  readonly busyAbove?: number;
}

export interface WorkerMachine {
  /** Processors that this process may use, as far as its group is allowed to. */
  readonly cores: number;
  readonly memoryMib: number;
  /** True where several processes can listen on one port, and the system shares connections out among them. */
  readonly sharesPorts: boolean;
}

const mebibyte = 1024 * 1024;
/** Left to the API, the database and the rest of the machine. */
const reservedMib = 384;
const workerMib = 128;

/** Undefined: the gateway runs in the process of the API. */
export function planWorkers(
  setting: number | 'auto' | 'off',
  machine: () => WorkerMachine = readMachine,
): WorkerPlan | undefined {
  if (setting === 'off') return undefined;
  if (setting !== 'auto') return { least: setting, most: setting };
  const { cores, memoryMib, sharesPorts } = machine();
  const most = Math.min(cores, Math.floor((memoryMib - reservedMib) / workerMib));
  return cores < 2 || most < 1 || !sharesPorts ? undefined : { least: 1, most };
}

function readMachine(): WorkerMachine {
  const memory = Math.min(totalmem(), groupMemory());
  return { cores: availableParallelism(), memoryMib: memory / mebibyte, sharesPorts: platform() === 'linux' };
}

/** The least memory that the control group of this process, or one above it, allows; as in a container. */
export function groupMemory(root = '/sys/fs/cgroup', ownGroup = '/proc/self/cgroup'): number {
  let least = Infinity;
  try {
    const [, path = '/'] = /^0::(.*)$/m.exec(readFileSync(ownGroup, 'utf8')) ?? [];
    for (let group = path; group !== '/'; group = dirname(group)) least = Math.min(least, limitOf(join(root, group)));
    return Math.min(least, limitOf(root));
  } catch {
    return least;
  }
}

/** The topmost group has no limit, and others may say "max". */
function limitOf(group: string): number {
  try {
    return Number.parseInt(readFileSync(join(group, 'memory.max'), 'utf8'), 10) || Infinity;
  } catch {
    return Infinity;
  }
}
