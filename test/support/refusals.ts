import assert from 'node:assert/strict';

import { resources } from '../../src/resources/index.ts';
import type { Answer, CallOptions, Gatehouse } from './gatehouse.ts';

/** Fails unless the call is refused with this status and number, and nothing is written. Answers the message. */
export async function refuses(
  gatehouse: Gatehouse,
  call: readonly [method: string, path: string, body?: unknown, options?: CallOptions],
  status: number,
  code: number,
): Promise<string> {
  const { store } = gatehouse.app.context;
  const before = store.version;
  const answer: Answer = await gatehouse.call(...call);
  const shown = `${call[0]} ${call[1]} ${JSON.stringify(call[2])} answered ${answer.status} ${answer.text}`;
  assert.equal(answer.status, status, shown);
  assert.equal(answer.body.error_code, `ERR_GATEHOUSE_${code}`, shown);
  assert.equal(store.version, before, 'a refused call has written something');
  return String(answer.body.msg);
}

/** Another account; answers how its admin calls. */
export async function newTenant(gatehouse: Gatehouse, name: string): Promise<CallOptions> {
  await runHostCommand(gatehouse, 'accounts create', { name });
  const printed = await runHostCommand(gatehouse, 'users create', { account: name, name: 'admin', role: 'admin' });
  return { token: /token \(shown once\): (\S+)/.exec(printed)?.[1] ?? '' };
}

async function runHostCommand(
  { app }: Gatehouse,
  name: string,
  values: Readonly<Record<string, string>>,
): Promise<string> {
  const command = resources.flatMap(({ hostCommands = [] }) => hostCommands).find((each) => each.name === name);
  assert.ok(command, `there is no host command ${name}`);
  return command.run(app.context, values);
}
