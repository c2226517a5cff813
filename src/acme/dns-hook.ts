import { execFile } from 'node:child_process';

import { sentence } from './authority-requests.ts';
import { hookFailed } from './errors.ts';
import { OrderFault } from './order-fault.ts';

export interface DnsHook {
  readonly program: string;
  readonly limitMs: number;
}

/** The program gets nothing of this process's environment, which holds secrets. */
const environment = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };
const outputBytes = 64 * 1024;

/** Calls the program of the operator, without a shell. It must not return before the record is seen by the world. */
export async function callHook(
  { program, limitMs }: DnsHook,
  task: 'add' | 'remove',
  record: { readonly name: string; readonly value: string },
): Promise<void> {
  const args = [task, record.name, record.value];
  const options = { env: environment, timeout: limitMs, killSignal: 'SIGKILL', maxBuffer: outputBytes } as const;
  const failure = await new Promise<string | undefined>((resolve) => {
    execFile(program, args, options, (error, _stdout, stderr) => {
      if (error === null) resolve(undefined);
      else if (error.killed === true) resolve(`it took longer than ${limitMs / 1000} seconds`);
      else resolve(stderr.trim().slice(-300) || error.message);
    });
  });
  if (failure === undefined) return;
  throw new OrderFault(hookFailed, { task, name: record.name, reason: sentence(failure) });
}
