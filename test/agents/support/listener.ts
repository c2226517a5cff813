import type { TestContext } from 'node:test';
import { createSecureContext } from 'node:tls';

import { ready } from '../../../src/lib/awaitable.ts';
import { AgentListener } from '../../../src/agents/server/agent-listener.ts';
import type { AgentListenerOptions } from '../../../src/agents/server/agent-listener.ts';
import { agentBoundErrors } from '../../../src/agents/server/bounds.ts';
import { AgentIdentity } from '../../../src/agents/server/identity.ts';
import { defaultLimits } from '../../../src/agents/server/limits.ts';
import type { AgentLimits } from '../../../src/agents/server/limits.ts';
import { openLocalCa } from '../../../src/gateway/certificates/local-ca.ts';
import { BoundReports } from '../../../src/lib/bound-reports.ts';
import { CidrSet, emptyCidrSet } from '../../../src/lib/ip/cidr-set.ts';
import { MemoryHost } from './memory-host.ts';

const localCa = await openLocalCa({ load: () => Promise.resolve(undefined), save: (pair) => Promise.resolve(pair) });
const leaf = await localCa.issue('localhost', new Date());
const context = createSecureContext({ key: leaf.privateKeyPem, cert: leaf.certificatePem });

/** The certificate that agents must trust. */
export const caPem = localCa.caCertificatePem;
export const identityKey = Buffer.alloc(32, 7);

export interface TestListener {
  readonly listener: AgentListener;
  readonly host: MemoryHost;
  readonly port: number;
  /** Faults that were logged. */
  readonly faults: object[];
  /** Bounds that were reached for the first time, as the log has them. */
  readonly reached: object[];
  /** Run before the listener is closed. */
  readonly cleanups: (() => Promise<unknown>)[];
}

type Changes = Partial<Omit<AgentListenerOptions, 'limits'>> & { readonly limits?: Partial<AgentLimits> };

/** Starts a listener that knows the tokens `token-a` and `token-b`. */
/** A listener of agents alone makes no connections that could come back to it. */
export const noArrivals = { isOurs: () => ready(false), ownArrivalReset: () => {} };

export async function startListener(t: TestContext, changes: Changes = {}): Promise<TestListener> {
  const host = new MemoryHost();
  const faults: object[] = [];
  const reached: object[] = [];
  const listener = new AgentListener({
    host,
    identity: new AgentIdentity(identityKey),
    region: 'local',
    serverVersion: 'test',
    errorPrefix: 'ERR_NGROK_',
    log: { error: (fields) => faults.push(fields) },
    listen: { host: '127.0.0.1', port: 0 },
    sharePorts: false,
    bounds: new BoundReports(agentBoundErrors, () => {}, { warn: (fields) => reached.push(fields) }),
    clientRules: { ...noArrivals, proxyProtocol: false, trustedProxies: new CidrSet(emptyCidrSet), headersMs: 5000 },
    contextFor: () => Promise.resolve(context),
    ...changes,
    limits: { ...defaultLimits, ...changes.limits },
  });
  await listener.open();
  const cleanups: (() => Promise<unknown>)[] = [];
  t.after(async () => {
    for (const cleanup of cleanups) await cleanup();
    await listener.drain(0);
  });
  return { listener, host, port: listener.port, faults, reached, cleanups };
}
