/** A parent of gateway workers, to be ended by a test. It prints the process ids of its workers. */
import { createWorkerEngine } from '../../../src/gateway/workers/worker-engine.ts';
import { freePort, plainOptions, Recorder } from './tcp-engine.ts';
import { packRules, snapshot, tcpEdge } from './tcp-entries.ts';

const observer = new Recorder();
const options = { ...plainOptions, trustedProxies: packRules([]) };
const { log } = observer;
const engine = await createWorkerEngine({ workers: 2, options, localCa: undefined, observer, log });
// With an open listener no worker ends for want of anything to do.
await engine.apply(snapshot(tcpEdge('edgtcp_1', [await freePort()])));
console.log(engine.pids.join(' '));
