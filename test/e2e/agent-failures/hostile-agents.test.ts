import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as requestHttps } from 'node:https';
import { after, before, test } from 'node:test';
import { connect } from 'node:tls';
import type { TLSSocket } from 'node:tls';

import type { MuxStream } from '../../../src/agents/mux/mux-stream.ts';
import { dataFrame, flags } from '../../../src/agents/wire/frame.ts';
import { streamTypes, typedStart } from '../../../src/agents/wire/stream-types.ts';
import { signIn } from '../../agents/support/sign-in.ts';
import { Recorder } from '../../agents/support/mux-peers.ts';
import { TestAgent } from '../../agents/support/test-agent.ts';
import { Served } from '../agents/support/served.ts';
import { newSqlite } from '../../support/scratch.ts';
import { sampleProcess } from '../support/process-sample.ts';
import type { Asking } from '../gateway/support/traffic.ts';
import { until } from '../gateway/support/until.ts';

/** Agents that are signed in and then break every rule: their session ends with a reason, and nobody else notices. */

const megabyte = 1024 * 1024;
/** Memory that one agent may cost the program, whatever it does; garbage that is not collected yet counts too. */
const allowedMegabytes = 150;
/** More than could be held anywhere on the way. */
const flooded = 300 * megabyte;
let served: Served | undefined;

before(async () => {
  served = await Served.start(newSqlite(), { 'agent-auth-seconds': '2' });
});
after(() => served?.[Symbol.asyncDispose]());

function theProgram(): Served {
  return served ?? assert.fail('the program runs only while tests do');
}

/** What a test gets: an agent that has signed in and bound a name. */
interface Hostile {
  readonly agent: TestAgent;
  readonly hostname: string;
  /** Streams of visitors that have arrived. */
  readonly arrived: MuxStream[];
  /** Waits until the log says that its session ended for this reason. */
  readonly endedBecause: (reason: RegExp) => Promise<void>;
}

/** Lets an agent of our own in, and fails if serving it costs others, or more memory than allowed. */
async function beside(run: (hostile: Hostile) => Promise<void>): Promise<void> {
  const { program, agentPort, ca } = theProgram();
  const calm = await theProgram().agent(await theProgram().newToken(), [{}]);
  const arrived: MuxStream[] = [];
  const visitor = (stream: MuxStream) => {
    arrived.push(stream);
    return new Recorder();
  };
  const { agent, answer } = await signIn(agentPort, ca, await theProgram().newToken(), { visitor });
  // The form of the answer is that of `authResponse`.
  const { AgentSessionID: session } = answer['Extra'] as { readonly AgentSessionID: string };
  const { hostname } = new URL(String((await agent.bind(''))['URL']));
  const start = sampleProcess(program.pid).megabytes;
  let highest = start;
  const timer = setInterval(() => {
    highest = Math.max(highest, sampleProcess(program.pid).megabytes);
  }, 50);
  const reasons = () =>
    program.logged('agent disconnected').flatMap((line) => (line.session === session ? String(line.reason) : []));
  const endedBecause = async (reason: RegExp) => {
    await until(() => reasons().length > 0, 'its session ends');
    assert.match(reasons().join(), reason);
  };
  try {
    await run({ agent, hostname, arrived, endedBecause });
    assert.equal((await theProgram().ask(calm.hostname)).status, 200);
    assert.ok(highest - start < allowedMegabytes, `${highest - start} MB more`);
  } finally {
    clearInterval(timer);
    agent.socket.destroy();
    await theProgram().clear();
  }
}

/** Sends until enough has passed, the connection is closed, or the promise is settled. However long a busy machine takes, it waits. */
async function flood(
  { socket }: TestAgent,
  next: () => Buffer,
  maxBytes: number,
  over?: Promise<unknown>,
): Promise<number> {
  let sent = 0;
  while (sent < maxBytes && !socket.destroyed) {
    const piece = next();
    const hasRoom = socket.write(piece);
    const hasPassed = hasRoom || (await drained(socket, over));
    if (!hasPassed) break;
    sent += piece.length;
  }
  return sent;
}

async function drained(socket: TLSSocket, over: Promise<unknown> = new Promise(() => {})): Promise<boolean> {
  const waiting = new AbortController();
  const { signal } = waiting;
  const has = (event: string) => once(socket, event, { signal });
  try {
    return await Promise.race([has('drain').then(() => true), has('close').then(() => false), over.then(() => false)]);
  } catch {
    return false;
  } finally {
    waiting.abort();
  }
}

/** Requests whose answers the tests do not care for, unless they are 200. */
function visit(hostname: string, asking: Asking = {}): Promise<number> {
  return theProgram()
    .ask(hostname, asking)
    .then(
      ({ status }) => status,
      () => 0,
    );
}

test('an agent that sends without regard to windows', async () => {
  await beside(async ({ agent, hostname, arrived }) => {
    const { program } = theProgram();
    const request = requestHttps({
      host: '127.0.0.1',
      port: program.httpsPort,
      servername: hostname,
      headers: { host: hostname },
      rejectUnauthorized: false,
      agent: false,
    });
    request.on('error', () => {}).end();
    await until(() => arrived.length === 1, 'a visitor arrives');
    const [stream] = arrived;
    assert.ok(stream);
    stream.write(Buffer.from('HTTP/1.1 200 OK\r\n\r\nfirst bytes'));
    // The visitor reads no more than that.
    const [response] = await once(request, 'response');
    response.on('error', () => {}).pause();
    const piece = Buffer.concat(dataFrame(stream.id, 0, Buffer.alloc(megabyte)));
    const sent = await flood(agent, () => piece, flooded);
    assert.ok(sent >= flooded && agent.mux.isOpen, `only ${sent} bytes were taken`);
    await until(() => stream.isClosed, 'its stream is reset');
    request.destroy();
  });
});

test('an agent that opens streams without end and reads no answer', async () => {
  await beside(async ({ agent, endedBecause }) => {
    agent.socket.pause();
    let id = 1001;
    const next = () => {
      const frames: Buffer[] = [];
      for (let count = 0; count < 5000; count++, id += 2) {
        frames.push(...dataFrame(id, flags.syn, typedStart(streamTypes.srvInfo, '{')));
      }
      return Buffer.concat(frames);
    };
    const over = endedBecause(/the peer does not read/);
    await Promise.all([flood(agent, next, flooded, over), over]);
  });
});

test('an agent that never reads what its visitors send', async () => {
  await beside(async ({ agent, hostname, endedBecause }) => {
    agent.socket.pause();
    const body = 'x'.repeat(5 * megabyte);
    const visits = Array.from({ length: 20 }, () => visit(hostname, { method: 'POST', body }));
    await endedBecause(/no sign of life/);
    for (const status of await Promise.all(visits)) assert.notEqual(status, 200);
  });
});

test('an agent that sends what is no frame', async () => {
  await beside(async ({ agent, endedBecause }) => {
    agent.socket.write(Buffer.alloc(1000, 0xff));
    await endedBecause(/unknown/);
  });
});

test('an agent that says nothing is closed, and told why', async () => {
  const { agentPort, ca } = theProgram();
  const socket = connect({ host: '127.0.0.1', port: agentPort, servername: 'localhost', ca });
  await once(socket, 'secureConnect');
  const agent = new TestAgent(socket.on('error', () => {}));
  assert.match((await agent.ended).text, /did not sign in in time.*GATEHOUSE_AGENT_AUTH_SECONDS/);
});
