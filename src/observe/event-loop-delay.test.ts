import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { Registry } from 'prom-client';

import { measureEventLoopDelay } from './event-loop-delay.ts';

test('work that holds the event loop up is seen in the delay', async () => {
  const registry = new Registry();
  using stack = new DisposableStack();
  stack.use(measureEventLoopDelay(registry));
  const overHalfASecond = async () => {
    const text = await registry.metrics();
    const at = (edge: string) =>
      Number(new RegExp(`^gatehouse_event_loop_delay_seconds_bucket\\{le="${edge}"\\} (\\d+)$`, 'm').exec(text)?.[1]);
    return at('\\+Inf') - at('0\\.5');
  };
  const before = await overHalfASecond();
  await sleep(50);
  const endMs = performance.now() + 700;
  while (performance.now() < endMs);
  await sleep(50);
  assert.ok((await overHalfASecond()) > before);
});
