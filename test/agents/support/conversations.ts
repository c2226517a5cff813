import { dataFrame, flags, goAwayFrame, resetFrame, windowIncrementFrame } from '../../../src/agents/wire/frame.ts';
import { streamTypes, typedStart } from '../../../src/agents/wire/stream-types.ts';
import type { Random } from '../../e2e/gateway/support/random.ts';
import { authBody, bindBody } from './test-agent.ts';

/** Conversations of agents, as frames, and ways to spoil them. */

const { syn, fin } = flags;
type Frames = readonly Buffer[];

function message(id: number, type: number, body: object): Frames {
  const bytes = typedStart(type, JSON.stringify(body));
  // In two frames, as agents do.
  return [...dataFrame(id, syn, bytes.subarray(0, 4)), ...dataFrame(id, 0, bytes.subarray(4))];
}

const auth = message(5, streamTypes.auth, authBody('token-a'));
const heartbeat = [...dataFrame(3, syn, typedStart(streamTypes.heartbeat)), ...dataFrame(3, 0, Buffer.from('beat'))];
const bind = message(
  7,
  streamTypes.bind,
  bindBody('a.test', { opts: { IPRestriction: { allow_cidrs: ['10.0.0.0/8'] } } }),
);
const labels = message(9, streamTypes.startTunnelWithLabel, { Labels: { a: 'b' }, ForwardsTo: 'x' });
const others = [
  ...message(11, streamTypes.unbind, { Id: 'tn_1' }),
  ...message(13, streamTypes.srvInfo, {}),
  ...message(15, streamTypes.patchTunnelState, { TunnelId: 'tn_1', Metadata: 'm' }),
];
const toVisitors = [
  ...dataFrame(2, 0, Buffer.from('HTTP/1.1 200 OK\r\n\r\n')),
  windowIncrementFrame(2, 100),
  ...dataFrame(4, 0, Buffer.alloc(20_000, 1)),
  ...dataFrame(4, fin, Buffer.alloc(0)),
  resetFrame(2, 4),
];

const conversations: readonly Frames[] = [
  [...heartbeat, ...auth, ...bind, ...toVisitors, ...others, goAwayFrame(0, 0, 'no error')],
  [...auth, ...bind, ...labels, ...toVisitors, ...heartbeat],
  [...auth, ...others, ...bind, resetFrame(7, 6), ...toVisitors],
  [...message(3, streamTypes.srvInfo, {}), ...auth, ...message(5, streamTypes.auth, authBody('token-b'))],
];

const words = ['{', '}', '"', '\\', 'null', '[', '1e999', 'Opts', 'Extra', '\u0000', '\u00ff'] as const;

/** Ways to spoil one frame; its bytes may be changed. */
const mutations: readonly ((frame: Buffer, random: Random) => readonly Buffer[])[] = [
  () => [],
  (frame) => [frame, frame],
  (frame, random) => [frame.subarray(0, random.below(frame.length + 1))],
  (frame, random) => {
    frame[random.below(frame.length)] = random.below(256);
    return [frame];
  },
  // Its type and flags, where most rules are.
  (frame, random) => {
    frame[3] = random.below(256);
    return [frame];
  },
  (frame, random) => {
    frame[7] = random.below(20);
    return [frame];
  },
  (frame, random) => {
    const at = Math.min(8 + random.below(frame.length), frame.length);
    const word = Buffer.from(random.pick(words), 'latin1');
    frame.writeUIntBE((frame.readUIntBE(0, 3) + word.length) % 0x1000000, 0, 3);
    return [frame.subarray(0, at), word, frame.subarray(at)];
  },
  (frame, random) => [frame, windowIncrementFrame(2 * random.below(10), random.below(3) * 0x3fffffff)],
  (frame, random) => [frame, ...dataFrame(random.below(12), random.below(4), Buffer.alloc(random.below(40_000)))],
  (frame, random) => [frame, Buffer.from(Array.from({ length: random.below(50) }, () => random.below(256)))],
];

/** What an agent sends: a conversation in which up to three frames are spoilt, or random bytes. */
export function spoiltConversation(random: Random): Buffer {
  if (random.below(20) === 0) return Buffer.from(Array.from({ length: random.below(300) }, () => random.below(256)));
  let frames: Buffer[] = random.pick(conversations).map((frame) => Buffer.from(frame));
  for (let left = random.below(4); left > 0 && frames.length > 0; left--) {
    const at = random.below(frames.length);
    const frame = frames[at];
    if (frame === undefined || frame.length < 8) continue;
    frames = [...frames.slice(0, at), ...random.pick(mutations)(frame, random), ...frames.slice(at + 1)];
  }
  return Buffer.concat(frames);
}

export function cut(bytes: Buffer, random: Random): readonly Buffer[] {
  const pieces: Buffer[] = [];
  const longest = random.pick([5, 30, 100, 400]);
  for (let at = 0; at < bytes.length;) {
    // Small pieces are for the messages at the start; cutting all the rest so would take long.
    const end = at + 1 + random.below(at < 1000 ? longest : 20_000);
    pieces.push(bytes.subarray(at, end));
    at = end;
  }
  return pieces;
}
