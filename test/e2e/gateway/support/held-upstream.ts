import type { ServerResponse } from 'node:http';

import { until } from './until.ts';
import { startUpstream } from './upstream.ts';
import type { Upstream } from './upstream.ts';

export interface HeldUpstream extends Upstream {
  /** Resolves when so many requests wait for their answer. */
  holds(count: number): Promise<void>;
  /** Ends the answers that wait. */
  release(): void;
}

/** Begins its answers to paths under `/held` and ends them when it is told to; answers others at once. */
export async function startHeldUpstream(): Promise<HeldUpstream> {
  const held = new Set<ServerResponse>();
  const upstream = await startUpstream('held', (request, response) => {
    if (request.url?.startsWith('/held') !== true) {
      response.end('at once');
      return;
    }
    response.write('begun, ');
    held.add(response);
    response.on('close', () => held.delete(response));
  });
  return Object.assign(upstream, {
    holds: (count: number) => until(() => held.size === count, `${count} requests are held`),
    release: () => {
      for (const response of held) response.end('ended');
    },
  });
}
