import { Histogram } from 'prom-client';
import type { Registry } from 'prom-client';

const everyMs = 20;

/** Measures how late a timer is: as long as every call and connection of this process waits for a piece of work. */
export function measureEventLoopDelay(registry: Registry): Disposable {
  const delays = new Histogram({
    name: 'gatehouse_event_loop_delay_seconds',
    help: 'How late a timer was that is due every 20 ms: the time for which everything in this process has waited.',
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [registry],
  });
  let dueMs = performance.now() + everyMs;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    delays.observe(Math.max(0, nowMs - dueMs) / 1000);
    dueMs = nowMs + everyMs;
  }, everyMs).unref();
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
    },
  };
}
