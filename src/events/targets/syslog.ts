import { createSocket } from 'node:dgram';
import type { Socket } from 'node:net';
import { hostname } from 'node:os';

import type { OutgoingEvent } from '../event.ts';
import type { SendTo, TargetOf } from './send-to.ts';

/** Longest message over TCP and TLS, in bytes: what common receivers take. */
const longestMessage = 8_192;
/** Longest message over UDP: RFC 5426 asks receivers to take as much. */
const longestDatagram = 2_048;
/** Bytes that a receiver may send, each piece of which costs as much as some more. */
const mostAnswered = 65_536;
const pieceBytes = 64;
/** A receiver that refuses connections by closing them does so within this time. */
const settleMs = 100;
/** Facility local0, severity notice. */
const priority = 16 * 8 + 5;
const unixHost =
  hostname()
    .replaceAll(/[^\u0021-\u007e]/g, '')
    .slice(0, 255) || '-';
/** Tells receivers that the text is UTF-8. */
const byteOrderMark = '\ufeff';

interface SyslogPlace {
  readonly accountId: string;
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
}

/** The way to receivers, which the caller guards. */
export interface SyslogRoads {
  /** `established` is called when bytes can go out. */
  readonly connect: (place: SyslogPlace, established: () => void) => Socket;
  /** An address of the host that datagrams may go to. */
  readonly resolve: (place: SyslogPlace, signal: AbortSignal) => Promise<string>;
}

/** Sends messages as RFC 5424 has them. */
export function sendToSyslog(roads: SyslogRoads): SendTo<'syslog'> {
  return async ({ accountId, target, events, signal }) => {
    if (target.protocol === 'udp') await sendDatagrams(roads, accountId, target, events, signal);
    else await sendStream(roads, accountId, target, events, signal);
    return { kind: 'sent' };
  };
}

/** Fits in so many bytes, with the short form of the event where the whole one does not. */
function messageOf({ at, type, body, shortBody }: OutgoingEvent, mostBytes: number): Buffer {
  // Names of messages have 32 characters at most.
  const head = `<${priority}>1 ${at} ${unixHost} gatehouse - ${type.slice(0, 32)} - ${byteOrderMark}`;
  const whole = Buffer.from(head + body);
  return whole.length <= mostBytes ? whole : Buffer.from(head + shortBody).subarray(0, mostBytes);
}

/**
 * Nobody says that a message has arrived. So our end follows the messages after a while, and the receiver's end says that it has
 * read all of them. One that ends the connection earlier has not.
 */
async function sendStream(
  { connect }: SyslogRoads,
  accountId: string,
  { protocol, host, port }: TargetOf<'syslog'>,
  events: readonly OutgoingEvent[],
  signal: AbortSignal,
): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  const frames = events.map((event) => {
    const message = messageOf(event, longestMessage);
    return Buffer.concat([Buffer.from(`${message.length} `), message]);
  });
  let hasEnded = false;
  let answered = 0;
  let ending: NodeJS.Timeout | undefined;
  const socket = connect({ accountId, host, port, tls: protocol === 'tls' }, () => {
    // Whatever comes is dropped; a receiver has nothing to say.
    socket.on('data', (bytes: Buffer) => {
      answered += bytes.length + pieceBytes;
      if (answered > mostAnswered) socket.destroy(new Error('it sends too much'));
    });
    socket.write(Buffer.concat(frames), () => {
      ending = setTimeout(() => {
        hasEnded = true;
        socket.end();
      }, settleMs);
    });
  });
  const stop = () => socket.destroy(new Error('it did not end the connection in time'));
  signal.addEventListener('abort', stop);
  socket.once('error', reject).once('end', () => {
    if (hasEnded) resolve(undefined);
    else reject(new Error('it ended the connection before it had read the events'));
  });
  socket.once('close', () => reject(new Error('the connection was closed before all was read')));
  try {
    await promise;
  } finally {
    signal.removeEventListener('abort', stop);
    clearTimeout(ending);
    socket.destroy();
  }
}

async function sendDatagrams(
  { resolve }: SyslogRoads,
  accountId: string,
  { host, port }: TargetOf<'syslog'>,
  events: readonly OutgoingEvent[],
  signal: AbortSignal,
): Promise<void> {
  const address = await resolve({ accountId, host, port, tls: false }, signal);
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  try {
    // A receiver that is not there is told by an error of a later datagram, which says nothing of this one.
    socket.on('error', () => {});
    for (const event of events) {
      signal.throwIfAborted();
      const message = messageOf(event, longestDatagram);
      await new Promise<void>((done, fail) => {
        socket.send(message, port, address, (error) => {
          if (error === null) done();
          else fail(error);
        });
      });
    }
  } finally {
    socket.close();
  }
}
