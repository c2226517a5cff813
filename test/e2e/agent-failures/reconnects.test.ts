import assert from 'node:assert/strict';
import { mkdtemp, open, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { rounds } from '../../support/long-form.ts';
import { signIn } from '../../agents/support/sign-in.ts';
import { Served } from '../agents/support/served.ts';
import { newSqlite } from '../../support/scratch.ts';
import { sampleProcess } from '../support/process-sample.ts';
import { until } from '../gateway/support/until.ts';

const reconnects = rounds(300, 100_000);
/** Agents that come and go at the same time. */
const agents = 8;
/** After so many the memory of the program is what it needs for this. */
const warmUp = Math.min(500, reconnects / 4);
/** Megabytes of objects; 10 kB for each of the reconnects would be more. */
const allowedMegabytes = 12;

/** Megabytes of objects that are in use: a snapshot of the heap is taken after a collection. */
async function heapInUse(pid: number, folder: string): Promise<number> {
  process.kill(pid, 'SIGUSR2');
  let heap: Snapshot | undefined;
  await until(async () => {
    const [file] = await readdir(folder);
    heap = file === undefined ? undefined : await readSnapshot(join(folder, file));
    return heap !== undefined;
  }, 'the heap is written');
  for (const file of await readdir(folder)) await rm(join(folder, file));
  const fields = heap?.snapshot.meta.node_fields ?? [];
  const size = fields.indexOf('self_size');
  const bytes = (heap?.nodes ?? []).reduce((sum, value, at) => (at % fields.length === size ? sum + value : sum), 0);
  return bytes / 1_000_000;
}

interface Snapshot {
  readonly snapshot: { readonly meta: { readonly node_fields: readonly string[] } };
  readonly nodes: readonly number[];
}

/** Undefined while it is being written. */
async function readSnapshot(path: string): Promise<Snapshot | undefined> {
  // The form is that of V8.
  return (await isWritten(path)) ? (JSON.parse(await readFile(path, 'utf8')) as Snapshot) : undefined;
}

/** Reads the end only: the whole of it is tens of megabytes. */
async function isWritten(path: string): Promise<boolean> {
  await using file = await open(path);
  const { size } = await file.stat();
  const { buffer, bytesRead } = await file.read(Buffer.alloc(8), 0, 8, Math.max(size - 8, 0));
  return buffer.subarray(0, bytesRead).toString().trimEnd().endsWith('}');
}

test(`${reconnects} reconnects leave no memory, no descriptor and no row behind`, async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-heap-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  process.env['NODE_OPTIONS'] = `--heapsnapshot-signal=SIGUSR2 --diagnostic-dir=${folder}`;
  await using served = await Served.start(newSqlite(), { 'agent-name-seconds': '1' });
  const { program, agentPort, ca } = served;
  const token = await served.newToken();
  let done = 0;

  /** Every second time it is an agent that is known, and every fourth time its former connection is still open. */
  async function comeAndGo(at: number): Promise<void> {
    let known: { readonly clientId: string; readonly cookie: string } | undefined;
    for (let round = 0; done < reconnects; round++) {
      done++;
      const { agent, answer } = await signIn(agentPort, ca, token, known === undefined ? {} : { known });
      assert.equal(answer['Error'], undefined);
      const bound = await agent.bind(`mine-${at}.localhost`);
      assert.equal(bound['Error'], undefined);
      // The form of the answer is that of `authResponse`.
      const { Cookie } = answer['Extra'] as { readonly Cookie: string };
      known = round % 2 === 0 ? { clientId: String(answer['ClientId']), cookie: Cookie } : undefined;
      if (round % 4 === 0) void agent.ended.then(() => agent.socket.destroy());
      else agent.socket.destroy();
    }
  }

  const running = Promise.all(Array.from({ length: agents }, (_, at) => comeAndGo(at)));
  await Promise.race([until(() => done >= warmUp, 'the program has warmed up', 300_000), running]);
  const start = { ...sampleProcess(program.pid), heap: await heapInUse(program.pid, folder) };
  await running;
  const isEmpty = async () => (await program.must('GET', '/tunnel_sessions')).tunnel_sessions.length <= agents;
  await until(isEmpty, 'sessions are gone');
  const end = { ...sampleProcess(program.pid), heap: await heapInUse(program.pid, folder) };
  t.diagnostic(`${start.heap.toFixed(1)} MB after ${warmUp}, ${end.heap.toFixed(1)} MB after ${reconnects}`);
  assert.ok(end.heap - start.heap < allowedMegabytes, `${end.heap - start.heap} MB more`);
  assert.ok(end.descriptors - start.descriptors < 50, `${end.descriptors - start.descriptors} descriptors more`);
  assert.ok((await program.must('GET', '/tunnels')).tunnels.length <= agents);
  assert.doesNotMatch(program.output, /"level":50/, 'the program logged an error');
});
