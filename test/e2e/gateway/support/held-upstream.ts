import type { ServerResponse } from 'node:http';

import { until } from './until.ts';
import { startUpstream } from './upstream.ts';
import type { Upstream } from './upstream.ts';

export interface HeldUpstream extends Upstream {
  /** Resolves when `count` requests wait for their response. */
  holds(count: number): Promise<void>;
  /** Ends all open responses. */
  release(): void;
}

/** Starts an upstream that begins responses under `/held`, ends them on `release`, and answers others at once. */
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
