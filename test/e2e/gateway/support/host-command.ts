import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { programWords } from '../../../support/program-file.ts';

const run = promisify(execFile);

/** Runs a command of the host's command line as an operator does. */
async function runOnHost(databaseUrl: string, ...args: readonly string[]): Promise<string> {
  const [file, ...first] = programWords;
  const { stdout } = await run(file, [...first, ...args, '--database-url', databaseUrl]);
  return stdout;
}

/** Creates an account and returns the token of its admin. */
export async function createAccount(databaseUrl: string, name: string): Promise<string> {
  const account = await runOnHost(databaseUrl, 'accounts', 'create', '--name', name);
  const id = account.split(' ', 1)[0] ?? '';
  const user = ['users', 'create', '--account', id, '--name', 'admin', '--role', 'admin'];
  const [, token] = /token \(shown once\): (\S+)/.exec(await runOnHost(databaseUrl, ...user)) ?? [];
  if (token === undefined) throw new Error('no token was printed');
  return token;
}
