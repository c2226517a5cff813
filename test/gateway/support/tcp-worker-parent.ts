/** Starts gateway workers and prints their process ids, until a test kills it. */
import { createWorkerEngine } from '../../../src/gateway/workers/worker-engine.ts';
import { freePort } from '../../support/free-port.ts';
import { plainOptions, Recorder } from './tcp-engine.ts';
import { packRules, snapshot, tcpEdge } from './tcp-entries.ts';

const observer = new Recorder();
const options = { ...plainOptions, trustedProxies: packRules([]) };
const { log } = observer;
const engine = await createWorkerEngine({ workers: { least: 2, most: 2 }, options, localCa: undefined, observer, log });
// An open listener keeps the workers alive.
await engine.apply(snapshot(tcpEdge('edgtcp_1', [await freePort()])));
console.log(engine.pids.join(' '));
