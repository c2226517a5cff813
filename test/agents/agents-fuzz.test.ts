import assert from 'node:assert/strict';
import { duplexPair } from 'node:stream';
import { test } from 'node:test';

import { isLong, rounds } from '../support/long-form.ts';
import type { SessionEnd } from '../../src/agents/mux/mux-session.ts';
import { AgentConnection } from '../../src/agents/server/agent-connection.ts';
import type { AgentSession } from '../../src/agents/server/agent-session.ts';
import { agentBoundErrors } from '../../src/agents/server/bounds.ts';
import { AgentIdentity } from '../../src/agents/server/identity.ts';
import { defaultLimits } from '../../src/agents/server/limits.ts';
import { flags } from '../../src/agents/wire/frame.ts';
import { FrameReader } from '../../src/agents/wire/frame-reader.ts';
import { BoundReports } from '../../src/lib/bound-reports.ts';
import { nextTurn } from '../../src/lib/next-turn.ts';
import { Random } from '../e2e/gateway/support/random.ts';
import { cut, spoiltConversation } from './support/conversations.ts';
import { identityKey } from './support/listener.ts';
import { MemoryHost } from './support/memory-host.ts';
import { Recorder, serverOptions, startSide } from './support/mux-peers.ts';

/**
 * Whatever a peer sends, in whatever pieces: nothing is thrown, the memory that its bytes hold stays below the bound, and
 * the session ends once, with a reason.
 */

const cases = rounds(600, 200_000);
const first = isLong ? Date.now() % 1_000_000_000 : 0;
const only = process.env['TEST_SEED'];
/** Cases that run at once. */
const batch = 20;
const unreadBytes = 50_000;
const limits = { ...defaultLimits, unreadBytes };

async function forEachSeed(run: (random: Random) => void | Promise<void>): Promise<void> {
  const seeds = only === undefined ? Array.from({ length: cases }, (_, at) => first + at) : [Number(only)];
  const runSeed = async (seed: number): Promise<void> => {
    try {
      // Spreads the seeds, as neighbouring ones begin with similar numbers.
      await run(new Random(Math.imul(seed + 1, 0x9e3779b1)));
    } catch (error) {
      throw new Error(`TEST_SEED=${seed} repeats this`, { cause: error });
    }
  };
  for (let at = 0; at < seeds.length; at += batch) await Promise.all(seeds.slice(at, at + batch).map(runSeed));
}

interface Reading {
  /** The payloads of each stream. */
  readonly bytes: ReadonlyMap<number, string>;
  /** All else, in order. */
  readonly others: readonly string[];
}

function readFrames(pieces: readonly Buffer[]): Reading {
  const bytes = new Map<number, string>();
  const others: string[] = [];
  const reader = new FrameReader({
    data: (id, piece, flag) => {
      if ((flag & flags.syn) !== 0) others.push(`syn ${id}`);
      if (piece.length > 0) bytes.set(id, (bytes.get(id) ?? '') + piece.toString('latin1'));
      if ((flag & flags.fin) !== 0) others.push(`fin ${id} after ${bytes.get(id)?.length ?? 0}`);
    },
    reset: (id, code) => others.push(`reset ${id} ${code}`),
    windowIncrement: (id, increment) => others.push(`increment ${id} ${increment}`),
    goAway: (id, code, text) => others.push(`goaway ${id} ${code} ${text}`),
  });
  for (const piece of pieces) {
    const fault = reader.push(piece);
    if (fault === undefined) continue;
    others.push(`fault ${fault.name}`);
    break;
  }
  return { bytes, others };
}

test('frames are read alike in one piece and in many', async (t) => {
  let faults = 0;
  await forEachSeed((random) => {
    const bytes = spoiltConversation(random);
    const whole = readFrames([bytes]);
    assert.deepEqual(readFrames(cut(bytes, random)), whole);
    if (whole.others.at(-1)?.startsWith('fault') === true) faults++;
  });
  t.diagnostic(`${faults} faults`);
  if (only === undefined) assert.ok(faults > cases / 10 && faults < cases / 2);
});

/** Opens streams of visitors who do not read, as soon as a tunnel is there. */
class VisitedHost extends MemoryHost {
  readonly visitors: Recorder[] = [];

  visit(session: AgentSession): void {
    for (const tunnel of session.tunnels.values()) {
      if (this.visitors.length >= 2) return;
      const visitor = new Recorder();
      visitor.isSlow = true;
      const header = { clientAddr: '192.0.2.1:1', proto: 'https', edgeType: 'https', passthroughTls: false } as const;
      visitor.stream = tunnel.open(header, visitor);
      this.visitors.push(visitor);
    }
  }
}

const bounds = new BoundReports(agentBoundErrors, () => {}, { warn: () => {} });
const ends = new Map<string, number>();

async function runServer(random: Random): Promise<void> {
  const [left, right] = duplexPair();
  const host = new VisitedHost();
  const faults: object[] = [];
  const keeper = { up: () => {}, down: () => {} };
  const { mux } = new AgentConnection(
    left,
    { ip: { family: 4, word0: 0, word1: 0, word2: 0, word3: 0 }, text: '192.0.2.9' },
    {
      host,
      identity: new AgentIdentity(identityKey),
      limits,
      bounds,
      region: 'local',
      serverVersion: 'test',
      errorPrefix: 'ERR_NGROK_',
      log: { error: (fields) => faults.push(fields) },
    },
    keeper,
  );
  right.on('error', () => {}).resume();
  for (const piece of cut(spoiltConversation(random), random)) {
    right.write(piece);
    // A message takes a turn or two to be answered, and an agent waits for that.
    if (random.below(20) > 0) await nextTurn();
    assert.ok(mux.heldBytes <= unreadBytes, `${mux.heldBytes} bytes are held`);
    for (const session of host.up) if (session.isOpen) host.visit(session);
    if (random.below(20) === 0) {
      mux.ignoresResets = random.below(2) === 0;
      for (const { stream } of host.visitors) stream?.abandon();
    }
  }
  right.end();
  for (let turn = 0; mux.isOpen && turn < 1000; turn++) await nextTurn();
  assert.equal(mux.isOpen, false);
  assert.equal(mux.heldBytes, 0);
  assert.equal(mux.localStreams, 0);
  assert.deepEqual(faults, []);
  assert.equal(host.ended.length, host.up.length);
  const reason = host.ended[0]?.end.text ?? host.away[0] ?? '';
  assert.notEqual(reason, '');
  for (const visitor of host.visitors) assert.notEqual(visitor.stream !== undefined && visitor.fault, 'open');
  const kind = `${host.up.length} up, ${host.visitors.length} visitors, ${reason.slice(0, 30)}`;
  ends.set(kind, (ends.get(kind) ?? 0) + 1);
}

test('a spoilt conversation with the server ends with a reason and leaves nothing', async (t) => {
  await forEachSeed(runServer);
  for (const [kind, count] of ends) t.diagnostic(`${count} × ${kind}`);
  // Mutations that break everything, or nothing, would prove little.
  const count = (pattern: RegExp): number =>
    [...ends].reduce((sum, [kind, each]) => sum + (pattern.test(kind) ? each : 0), 0);
  if (only !== undefined) return;
  assert.ok(count(/^1 up/) > cases / 5 && count(/^0 up/) > cases / 10, 'let in, and turned away');
  assert.ok(count(/stream id|unknown|wrong length/) > cases / 10 && count(/closed the connection/) > cases / 20);
});

test('a client that is sent the same ends with a reason and leaves nothing', async () => {
  await forEachSeed(async (random) => {
    const [left, right] = duplexPair();
    const side = startSide(left, { ...serverOptions, role: 'client', maxUnreadBytes: unreadBytes }, true);
    const ended: SessionEnd[] = [];
    right.on('error', () => {}).resume();
    for (let count = random.below(3); count > 0; count--) side.mux.open(new Recorder(), Buffer.from('first'));
    for (const piece of cut(spoiltConversation(random), random)) {
      right.write(piece);
      if (random.below(3) === 0) await nextTurn();
      assert.ok(side.mux.heldBytes <= unreadBytes);
    }
    right.end();
    for (let turn = 0; side.end === undefined && turn < 1000; turn++) await nextTurn();
    if (side.end !== undefined) ended.push(side.end);
    assert.equal(ended.length, 1);
    assert.deepEqual([side.mux.heldBytes, side.mux.localStreams], [0, 0]);
  });
});
