import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { makeCertificate } from '../../../gateway/support/https-certificate.ts';
import { freePort } from '../../../support/free-port.ts';
import type { Served } from '../../agents/support/served.ts';
import { appHost, createAppEdge } from '../../gateway/support/app-edge.ts';
import { changes } from '../../gateway/support/changes.ts';
import type { ChangeParts } from '../../gateway/support/changes.ts';
import { childrenOf } from '../../gateway/support/child-processes.ts';
import { Load } from '../../gateway/support/load.ts';
import { startModel } from '../../gateway/support/model.ts';
import { Random } from '../../gateway/support/random.ts';
import { startUpstream } from '../../gateway/support/upstream.ts';
import { sampleProcess } from '../../support/process-sample.ts';
import type { ProcessSample } from '../../support/process-sample.ts';
import { PassingAgents } from './passing-agents.ts';
import { RestlessClients } from './restless-clients.ts';
import { WorkerRestarts } from './worker-restarts.ts';

/** Resources that the program holds with its workers at one moment, and the latency of requests since the sample before. */
export interface Sample {
  readonly seconds: number;
  readonly descriptors: number;
  readonly megabytes: number;
  /** Times of the requests of well-behaved clients. */
  readonly tookMs: readonly number[];
}

export interface SoakReport {
  /** Samples taken during the load. */
  readonly samples: readonly Sample[];
  readonly before: Sample;
  /** Sample taken when all clients had disconnected and idle connections were closed. */
  readonly after: Sample;
  readonly requests: number;
  readonly changes: number;
  readonly restarts: number;
  /** Times that an agent came and went. */
  readonly agents: number;
  /** Requests that broke off with a worker that was killed. */
  readonly brokenOff: number;
  /** Other failed requests of well-behaved clients and agents. */
  readonly failures: readonly string[];
}

interface SoakOptions {
  /** Shortest time of the load. */
  readonly seconds: number;
  /** Numbers that must be reached, however long a busy machine takes; default: none. */
  readonly atLeast?: Partial<Pick<SoakReport, 'requests' | 'changes' | 'restarts' | 'agents'>>;
  readonly sampleSeconds: number;
  /** Time between two restarts of a worker. */
  readonly restartSeconds: number;
  readonly onSample?: (sample: Sample) => void;
}

/** Keep-alive of the upstreams; the gateway closes idle connections to them after 2 s, so any open later has leaked. */
const upstreamKeepAliveMs = 3_000;
const settleLimitMs = 30_000;
/** The machine is to be half idle, so that the latency is that of the program. */
const requestPauseMs = 20;
const changePauseMs = 50;
const passingAgents = 4;
const steadyHost = 'steady.localhost';

/** Descriptors more than at the start that are no leak: the database opens a few of its own. */
export const descriptorSlack = 5;

/** Settings of a program for a soak. */
export const soakSettings = {
  workers: '2',
  'tcp-ports': '10000-32767',
  'access-log': '0',
  'agent-name-seconds': '1',
  'log-level': 'warn',
};

/**
 * Runs load of every kind, well-behaved and not, on a program while its configuration changes, agents come and go, and
 * workers are killed.
 */
export async function soak(served: Served, options: SoakOptions): Promise<SoakReport> {
  const { seconds, atLeast = {}, sampleSeconds, restartSeconds, onSample } = options;
  const { program } = served;
  // The load uses the edges of one account, and another one changes.
  const token = await served.newAccount('changing');
  await using calm = await startUpstream('calm');
  await using first = await startUpstream('first');
  await using second = await startUpstream('second');
  for (const { server } of [calm, first, second, served.upstream]) server.keepAliveTimeout = upstreamKeepAliveMs;
  const { tcpPort } = await createAppEdge(program, calm.port);
  const agentToken = await served.newToken();
  await served.agent(agentToken, [{ domain: steadyHost }]);
  const model = await startModel(program, token, [first, second]);
  const random = new Random(Date.now());
  const parts: ChangeParts = { program, token, model, random, newPort: freePort, certificateFor };
  await startCheckpoints(program, token);
  const startMs = performance.now();
  const take = (tookMs: readonly number[]) => takeSample(program.pid, (performance.now() - startMs) / 1000, tookMs);
  const before = await take([]);

  const load = new Load({
    httpsPort: program.httpsPort,
    hosts: [appHost, steadyHost],
    tcpPort,
    pauseMs: requestPauseMs,
  });
  const restless = new RestlessClients(program.httpsPort, tcpPort);
  const agents = new PassingAgents(served, agentToken, passingAgents);
  const restarts = new WorkerRestarts(program.pid, [load, agents]);
  const samples: Sample[] = [];
  let changed = 0;
  let restarting = Promise.resolve();
  let nextSampleMs = startMs + sampleSeconds * 1000;
  let nextRestartMs = startMs + restartSeconds * 1000;
  const isEnough = () =>
    load.requests + restless.rounds >= (atLeast.requests ?? 0) &&
    changed >= (atLeast.changes ?? 0) &&
    agents.rounds >= (atLeast.agents ?? 0) &&
    restarts.count >= (atLeast.restarts ?? 0);
  try {
    while (performance.now() < startMs + seconds * 1000 || !isEnough()) {
      const change = model.sites.length < 3 ? changes[0] : random.pick(changes);
      if ((await change?.(parts)) !== undefined) changed += 1;
      await sleep(changePauseMs);
      if (performance.now() >= nextSampleMs) {
        nextSampleMs += sampleSeconds * 1000;
        const sample = await take(load.tookMs.splice(0));
        samples.push(sample);
        onSample?.(sample);
      }
      if (performance.now() >= nextRestartMs) {
        nextRestartMs += restartSeconds * 1000;
        restarting = restarting.then(() => restarts.restartOne());
      }
    }
  } finally {
    try {
      await restarting;
    } finally {
      await Promise.all([load.stop(), restless.stop(), agents.stop()]);
    }
  }
  for (const { id } of model.tcpSites) await program.must('DELETE', `/edges/tcp/${id}`, undefined, token);
  const settledBy = performance.now() + settleLimitMs;
  let after = await take([]);
  while (after.descriptors > before.descriptors + descriptorSlack && performance.now() < settledBy) {
    await sleep(200);
    after = await take([]);
  }
  return {
    samples,
    before,
    after,
    requests: load.requests + restless.rounds,
    changes: changed,
    restarts: restarts.count,
    agents: agents.rounds,
    brokenOff: restarts.brokenOff,
    failures: [...load.failures, ...agents.failures],
  };
}

/** Makes the log of the database long: the thread that copies it from then on has descriptors, which are no leak. */
async function startCheckpoints(program: Served['program'], token: string): Promise<void> {
  const { descriptors } = sampleProcess(program.pid);
  const metadata = 'x'.repeat(4096);
  for (let writes = 0; sampleProcess(program.pid).descriptors < descriptors + descriptorSlack; writes++) {
    assert.ok(writes < 10_000, 'the log of the database is not copied');
    await program.must('POST', '/ip_policies', { metadata }, token);
  }
}

function certificateFor(host: string): ReturnType<ChangeParts['certificateFor']> {
  const { certificate, key } = makeCertificate(`DNS:${host}`);
  return { certificate_pem: certificate, private_key_pem: key, fingerprint: '' };
}

async function takeSample(pid: number, seconds: number, tookMs: readonly number[]): Promise<Sample> {
  const processes = [sampleProcess(pid), ...(await childrenOf(pid)).flatMap(sampleIfThere)];
  const descriptors = processes.reduce((sum, each) => sum + each.descriptors, 0);
  const megabytes = processes.reduce((sum, each) => sum + each.megabytes, 0);
  return { seconds, descriptors, megabytes, tookMs };
}

/** A worker may have been killed since it was found. */
function sampleIfThere(pid: number): readonly ProcessSample[] {
  try {
    return [sampleProcess(pid)];
  } catch (error) {
    if (!existsSync(`/proc/${pid}/fd`)) return [];
    throw error;
  }
}
