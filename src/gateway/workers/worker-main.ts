/** The program of a gateway worker: a node engine at the other end of its parent's channel. */
import { Socket } from 'node:net';
import { setFlagsFromString } from 'node:v8';

import { CidrSet } from '../../lib/ip/cidr-set.ts';
import { Link } from '../../links/link.ts';
import { Places, usePlaces } from '../../modules/places.ts';
import { useRequestHosts } from '../../modules/request-hosts.ts';
import { useRegion } from '../../modules/region.ts';
import type { CertificatePair } from '../../snapshot/local-ca.ts';
import { readSource } from '../../snapshot/read-source.ts';
import { reportBounds } from '../bounds/report-bounds.ts';
import { createCertificateSource } from '../certificates/create-certificate-source.ts';
import { openLocalCa } from '../certificates/local-ca.ts';
import type { GatewayLog } from '../engine.ts';
import type { HealthNote } from '../health/health-board.ts';
import type { CertificateSource } from '../https/client/certificate-source.ts';
import { createNodeEngine } from '../node-engine.ts';
import type { NodeEngine, StagedUpdate } from '../node-engine.ts';
import { dialMs, mebibyte, StreamDialer } from '../tunnels/stream-dialer.ts';
import type { TunnelDialer } from '../tunnels/dialer.ts';
import type { Arrival } from '../upstream/upstream-sockets.ts';
import { EventBatch } from './event-batch.ts';
import { RemoteLogins } from './login-calls.ts';
import { linkDescriptor } from './messages.ts';
import type { FromWorker, LogLine, Reply, Request, WorkerOptions } from './messages.ts';

const loadMs = 1000;
const noteMs = 10;
const notes: HealthNote[] = [];
const log: GatewayLog = { info: logAs('info'), warn: logAs('warn'), error: logAs('error') };
const batch = new EventBatch((events) => send({ type: 'events', ...events }), log);
const logins = new RemoteLogins((call) => void send(call));
let engine: NodeEngine | undefined;
let staged: StagedUpdate | undefined;
/** True: there is no other worker that could have made a connection. */
let isAlone = false;
const questions = new Map<number, (madeByOthers: boolean) => void>();
let asked = 0;

// As `bin/gatehouse` has them for its own process. A V8 that does not know one says so and goes on.
for (const flag of ['--max-inlined-bytecode-size-cumulative=4000', '--min-inlining-frequency=0.02'])
  setFlagsFromString(flag);
// A terminal or a service manager signals the whole group: the parent drains its workers and then lets go of them.
process.on('SIGINT', ignore).on('SIGTERM', ignore);
process.on('disconnect', () => {
  process.exit();
});
process.on('message', (message) => {
  // Only worker-process.ts writes to this channel.
  void answer(message as Request);
});
await send({ type: 'up' });
let seen = performance.eventLoopUtilization();
setInterval(() => {
  const now = performance.eventLoopUtilization();
  const { utilization: busy } = performance.eventLoopUtilization(now, seen);
  seen = now;
  void send({ type: 'load', busy, clients: engine?.clientCount ?? 0, memoryBytes: process.memoryUsage.rss() });
}, loadMs);

async function answer(request: Request): Promise<void> {
  const { number } = request;
  try {
    await send({ type: 'reply', number, ...(await perform(request)) });
  } catch (error) {
    await send({ type: 'reply', number, fault: error instanceof Error ? error.message : String(error) });
  }
}

/** Returns what the reply says beside that it is done. */
async function perform(request: Request): Promise<Pick<Reply, 'made' | 'replayed'> | undefined> {
  if (request.task === 'start') {
    engine = await start(request);
    return undefined;
  }
  if (engine === undefined) throw new Error('the worker has not been started');
  switch (request.task) {
    case 'stage':
      staged = await engine.stage(request.update);
      break;
    case 'stageAll':
      staged = await engine.stage(await readSource(request));
      break;
    case 'commit':
      // A worker that answered with success here would go on with the old rules, and nobody would know.
      if (staged === undefined) throw new Error('there is no staged update to commit');
      await staged.commit();
      staged = undefined;
      // Events go out before the reply: the caller of `apply` then knows of faulty ports too.
      void batch.flush();
      break;
    case 'abandon':
      staged?.abandon();
      staged = undefined;
      break;
    case 'drain':
      await engine.drain(request.limitMs);
      await batch.flush();
      break;
    case 'share':
      engine.changeBounds(request.bounds);
      ({ isAlone } = request);
      break;
    case 'tell': {
      const [name, ...given] = request.call;
      // The parent has called the method of this name with them.
      Reflect.apply(engine[name], engine, given);
      break;
    }
    case 'made':
      return { made: engine.made(request.arrival) };
    case 'replay':
      return { replayed: await engine.replay(request.request) };
    case 'loginReply':
      logins.answered(request.reply);
      break;
    case 'answer':
      questions.get(request.question)?.(request.madeByOthers);
      questions.delete(request.question);
      break;
  }
  return undefined;
}

/** The parent asks the other workers. Without a parent the process ends, and with it the question. */
function askOthers(arrival: Arrival): Promise<boolean> {
  if (isAlone) return Promise.resolve(false);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const question = ++asked;
  questions.set(question, resolve);
  void send({ type: 'question', question, arrival });
  return promise;
}

async function start(request: Extract<Request, { readonly task: 'start' }>): Promise<NodeEngine> {
  const { trustedProxies, ...plain } = request.options;
  const options = { ...plain, trustedProxies: new CidrSet(trustedProxies), sharePorts: true };
  const certificates = request.localCa === undefined ? undefined : await openCertificates(request.localCa, plain);
  if (plain.region !== undefined) useRegion(plain.region);
  useRequestHosts(plain.policyRequestHosts ?? []);
  if (plain.geoDatabase !== undefined) usePlaces(await Places.open(plain.geoDatabase, log));
  const { errorPrefix } = request;
  return createNodeEngine({
    options,
    observer: batch.observer,
    log,
    logins,
    certificates,
    askOthers,
    noteHealth,
    dialer: openLink(plain),
    ...(errorPrefix && { errorPrefix }),
  });
}

/** Sends what was seen of addresses in batches: many requests may fail at once. */
function noteHealth(note: HealthNote): void {
  notes.push(note);
  if (notes.length > 1) return;
  setTimeout(() => void send({ type: 'health', notes: notes.splice(0) }), noteMs);
}

/** Sessions of agents are held by the parent, or by processes that it has links to. */
function openLink({ bounds, timeouts }: Pick<WorkerOptions, 'bounds' | 'timeouts'>): TunnelDialer {
  const reports = reportBounds(batch.observer, log);
  const link = new Link(new Socket({ fd: linkDescriptor, readable: true, writable: true }), {
    maxUnreadBytes: bounds.linkUnreadMib * mebibyte,
    overrun: () => {
      reports.refused('link_unread_mib', {});
    },
    // The parent ends a worker without a link.
    closed: ignore,
  });
  reports.watch('link_unread_mib', bounds.linkUnreadMib, () => Math.ceil(link.unreadBytes / mebibyte));
  return new StreamDialer((request, user) => link.open(request, user, dialMs(timeouts)));
}

async function openCertificates(
  pair: CertificatePair,
  { refusesPublicNames }: Pick<WorkerOptions, 'refusesPublicNames'>,
): Promise<CertificateSource> {
  const kept = (): Promise<CertificatePair> => Promise.resolve(pair);
  const localCa = await openLocalCa({ load: kept, save: kept });
  return createCertificateSource({ localCa, log, refusesPublicNames });
}

function logAs(level: LogLine['level']): (fields: object, message: string) => void {
  return (fields, message) => void send({ type: 'log', level, fields, message });
}

/** Resolves when the message has been sent. Without a parent the process ends. */
function send(message: FromWorker): Promise<void> {
  return new Promise((resolve) => {
    process.send?.(message, undefined, undefined, () => {
      resolve();
    });
  });
}

function ignore(): void {}
