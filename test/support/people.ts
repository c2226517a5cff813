import { resources } from '../../src/resources/index.ts';
import type { CallOptions, Gatehouse } from './gatehouse.ts';

export interface Person {
  readonly id: string;
  readonly token: string;
}

/** The account that every database starts with. */
const firstAccount = 'default';

/** Runs a host command inside this process and returns its output. */
export function runOnHost(
  { app: { context } }: Gatehouse,
  name: string,
  values: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  const command = resources.flatMap(({ hostCommands = [] }) => hostCommands).find((each) => each.name === name);
  if (command === undefined) throw new Error(`there is no command ${name}`);
  return command.run(context, values);
}

/** Creates an account and returns its id. */
export async function createAccount(gatehouse: Gatehouse): Promise<string> {
  const printed = await runOnHost(gatehouse, 'accounts create', { name: newName('account') });
  return printed.split(' ', 1)[0] ?? '';
}

export async function createUser(
  gatehouse: Gatehouse,
  role: 'admin' | 'member' | 'viewer',
  account: string = firstAccount,
): Promise<Person> {
  const printed = await runOnHost(gatehouse, 'users create', { account, role, name: newName(role) });
  const [, id, token] = /^(usr_\w+)[^]*token \(shown once\): (\S+)$/.exec(printed) ?? [];
  if (id === undefined || token === undefined) throw new Error(`unexpected output: ${printed}`);
  return { id, token };
}

export async function createBot(gatehouse: Gatehouse): Promise<Person> {
  const { id } = await gatehouse.create('/bot_users', { name: newName('bot') });
  const { token } = await gatehouse.create('/api_keys', { owner_id: id });
  return { id, token };
}

/** Adds the header for calls from this address, where 127.0.0.1 is a trusted proxy. */
export function from(address: string, options: CallOptions = {}): CallOptions {
  return { ...options, headers: { ...options.headers, 'x-forwarded-for': address } };
}

export function newName(kind: string): string {
  return `${kind} ${(names += 1)}`;
}

let names = 0;
