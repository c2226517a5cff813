import assert from 'node:assert/strict';

import { readVersion } from '../../src/store/write/change-log.ts';
import type { Answer, CallOptions, Gatehouse } from './gatehouse.ts';

/** Fails unless the call is refused with this status and code, and nothing is written. Returns the message. */
export async function refuses(
  gatehouse: Gatehouse,
  call: readonly [method: string, path: string, body?: unknown, options?: CallOptions],
  status: number,
  code: number,
): Promise<string> {
  const { queries } = gatehouse.app.context.store;
  const before = await readVersion(queries);
  const answer: Answer = await gatehouse.call(...call);
  const result = `${call[0]} ${call[1]} ${JSON.stringify(call[2])} answered ${answer.status} ${answer.text}`;
  assert.equal(answer.status, status, result);
  assert.equal(answer.body.error_code, `ERR_GATEHOUSE_${code}`, result);
  assert.equal(await readVersion(queries), before, 'a refused call has written something');
  return String(answer.body.msg);
}
