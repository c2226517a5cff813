import type { BackendRefused, GatewayLog } from '../gateway/engine.ts';
import { BoundedCache } from '../lib/bounded-cache.ts';
import { hasElapsed } from '../lib/elapsed.ts';
import { logFields } from '../lib/log-fields.ts';

/** Shortest interval between log lines for one backend of an account. */
const againMs = 60_000;
const remembered = 10_000;

/** Names backend, address and listener, and the remedy: the client is told nothing of it. */
export function createRefusalLog(log: GatewayLog): (event: BackendRefused) => void {
  const loggedAt = new BoundedCache<string, number>(remembered);
  return (event) => {
    const nowMs = Date.now();
    // Several accounts may have servers asked under one id.
    const key = `${event.accountId} ${event.backendId}`;
    if (!hasElapsed(loggedAt.get(key) ?? 0, againMs, nowMs)) return;
    loggedAt.set(key, nowMs);
    const remedy =
      event.leadsTo === 'link_local'
        ? 'give the backend another address, or set GATEHOUSE_BACKEND_ALLOW_LINK_LOCAL=on if it is meant'
        : 'give the backend the address and port of the server behind the edge';
    log.warn(logFields({ ...event, remedy }), 'a backend that leads inwards was not connected to');
  };
}
