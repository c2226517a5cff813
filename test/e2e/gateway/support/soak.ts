import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import { makeCertificate } from '../../../gateway/support/https-certificate.ts';
import { freePort } from '../../../support/free-port.ts';
import { createAppEdge } from './app-edge.ts';
import { changes } from './changes.ts';
import type { ChangeParts } from './changes.ts';
import { Load } from './load.ts';
import { startModel } from './model.ts';
import type { Program } from './program.ts';
import { Random } from './random.ts';
import { RestlessClients } from './restless-clients.ts';
import { startUpstream } from './upstream.ts';

/** Resources that the server holds at one moment. */
export interface Sample {
  readonly seconds: number;
  readonly descriptors: number;
  readonly megabytes: number;
}

export interface SoakReport {
  /** Samples taken during the load. */
  readonly samples: readonly Sample[];
  readonly before: Sample;
  /** Sample taken when all clients had disconnected and idle connections were closed. */
  readonly after: Sample;
  readonly requests: number;
  readonly changes: number;
  /** Failed requests of well-behaved clients. */
  readonly failures: readonly string[];
}

interface SoakOptions {
  /** Token of an account that changes; the load uses the edges of another. */
  readonly token: string;
  readonly seconds: number;
  readonly sampleSeconds: number;
  readonly onSample?: (sample: Sample) => void;
}

/** Keep-alive of the upstreams; the gateway closes idle connections to them after 2 s, so any open later has leaked. */
const upstreamKeepAliveMs = 3_000;
const settleLimitMs = 30_000;
const changePauseMs = 20;

/** Runs load of every kind, well-behaved and not, on a program while its configuration changes. */
export async function soak(program: Program, options: SoakOptions): Promise<SoakReport> {
  const { token, seconds, sampleSeconds, onSample } = options;
  await using calm = await startUpstream('calm');
  await using first = await startUpstream('first');
  await using second = await startUpstream('second');
  for (const { server } of [calm, first, second]) server.keepAliveTimeout = upstreamKeepAliveMs;
  const { tcpPort } = await createAppEdge(program, calm.port);
  const model = await startModel(program, token, [first, second]);
  const random = new Random(Date.now());
  const parts: ChangeParts = { program, token, model, random, newPort: freePort, certificateFor };
  const startMs = performance.now();
  const take = (): Sample => takeSample(program.pid, (performance.now() - startMs) / 1000);
  const before = take();

  const load = new Load({ httpsPort: program.httpsPort, hosts: ['app.edge.test'], tcpPort });
  const restless = new RestlessClients(program.httpsPort, tcpPort);
  const samples: Sample[] = [];
  let changed = 0;
  let nextSampleMs = startMs;
  while (performance.now() < startMs + seconds * 1000) {
    const change = model.sites.length < 3 ? changes[0] : random.pick(changes);
    if ((await change?.(parts)) !== undefined) changed += 1;
    await sleep(changePauseMs);
    if (performance.now() < nextSampleMs) continue;
    nextSampleMs += sampleSeconds * 1000;
    const sample = take();
    samples.push(sample);
    onSample?.(sample);
  }
  await Promise.all([load.stop(), restless.stop()]);
  for (const { id } of model.tcpSites) await program.must('DELETE', `/edges/tcp/${id}`, undefined, token);
  const settledBy = performance.now() + settleLimitMs;
  while (take().descriptors > before.descriptors && performance.now() < settledBy) await sleep(200);
  return {
    samples,
    before,
    after: take(),
    requests: load.requests + restless.rounds,
    changes: changed,
    failures: load.failures,
  };
}

function certificateFor(host: string): ReturnType<ChangeParts['certificateFor']> {
  const { certificate, key } = makeCertificate(`DNS:${host}`);
  return { certificate_pem: certificate, private_key_pem: key, fingerprint: '' };
}

export function takeSample(pid: number, seconds: number): Sample {
  const descriptors = readdirSync(`/proc/${pid}/fd`).length;
  const kilobytes = Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
  return { seconds, descriptors, megabytes: kilobytes / 1024 };
}
