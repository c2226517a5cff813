import type { TestContext } from 'node:test';
import { createSecureContext } from 'node:tls';

import { ready } from '../../../src/lib/awaitable.ts';
import { AgentListener } from '../../../src/agents/server/agent-listener.ts';
import { AgentPort } from '../../../src/agents/server/agent-port.ts';
import type { AgentListenerOptions } from '../../../src/agents/server/agent-listener.ts';
import { agentBoundErrors } from '../../../src/agents/server/bounds.ts';
import { AgentIdentity } from '../../../src/agents/server/identity.ts';
import { defaultLimits } from '../../../src/agents/server/limits.ts';
import type { AgentLimits } from '../../../src/agents/server/limits.ts';
import { BoundReports } from '../../../src/lib/bound-reports.ts';
import { CidrSet, emptyCidrSet } from '../../../src/lib/ip/cidr-set.ts';
import { makePair } from '../../support/certificate-pair.ts';
import { MemoryHost } from './memory-host.ts';

const authority = makePair('agents-ca', '-subj', '/CN=agents', '-days', '2');
const leaf = makePair(
  'agents-leaf',
  '-CA',
  'agents-ca.pem',
  '-CAkey',
  'agents-ca.key',
  '-subj',
  '/CN=localhost',
  '-days',
  '2',
  '-addext',
  'subjectAltName=DNS:localhost',
  '-addext',
  'basicConstraints=critical,CA:FALSE',
);
const context = createSecureContext({ key: leaf.private_key_pem, cert: leaf.certificate_pem });

/** The certificate that agents must trust. */
export const caPem = authority.certificate_pem;
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
  const agentPort = await AgentPort.open({ listen: { host: '127.0.0.1', port: 0 }, maxWaiting: 100 });
  const listener = new AgentListener({
    host,
    identity: new AgentIdentity(identityKey),
    region: 'local',
    serverVersion: 'test',
    errorPrefix: 'ERR_NGROK_',
    log: { error: (fields) => faults.push(fields) },
    port: agentPort,
    bounds: new BoundReports(agentBoundErrors, () => {}, { warn: (fields) => reached.push(fields) }),
    clientRules: { ...noArrivals, proxyProtocol: false, trustedProxies: new CidrSet(emptyCidrSet), headersMs: 5000 },
    contextFor: () => Promise.resolve(context),
    ...changes,
    limits: { ...defaultLimits, ...changes.limits },
  });
  listener.open();
  const cleanups: (() => Promise<unknown>)[] = [];
  t.after(async () => {
    for (const cleanup of cleanups) await cleanup();
    await listener.drain(0);
    agentPort[Symbol.dispose]();
  });
  return { listener, host, port: listener.port, faults, reached, cleanups };
}
