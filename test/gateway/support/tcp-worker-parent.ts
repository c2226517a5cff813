/** A parent of gateway workers, to be ended by a test. It prints the process ids of its workers. */
import { createWorkerEngine } from '../../../src/gateway/workers/worker-engine.ts';
import { plainOptions, Recorder } from './tcp-engine.ts';
import { packRules } from './tcp-entries.ts';

const observer = new Recorder();
const options = { ...plainOptions, trustedProxies: packRules([]) };
const { log } = observer;
const engine = await createWorkerEngine({ workers: 2, options, localCa: undefined, observer, log, environment: {} });
console.log(engine.pids.join(' '));
