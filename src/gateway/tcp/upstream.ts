import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';

import type { ConnectUpstream, UpstreamTarget } from '../upstream/connect.ts';
import { ReadMemory } from './read-memory.ts';

/** The owner of a connection to a backend. */
export interface UpstreamUser {
  /** The socket that received bytes are written to. */
  readonly client: Socket;
  /** Bytes can go out, after the handshake where there is TLS. None come before. */
  connected(): void;
  /** Takes bytes, which it must not keep once the client has written them. False: wait until the socket is resumed. */
  received(bytes: Buffer): boolean;
}

/** Starts a connection for its user. */
export type OpenUpstream = (user: UpstreamUser) => Duplex;

/** Starts a connection to a backend. */
export function connectBackend(connect: ConnectUpstream, backend: UpstreamTarget): OpenUpstream {
  return (user) => (backend.tls ? connectSecure(connect, backend, user) : connectPlain(connect, backend, user));
}

function connectPlain(connect: ConnectUpstream, backend: UpstreamTarget, user: UpstreamUser): Socket {
  const memory = new ReadMemory(user.client);
  const onread = {
    buffer: () => memory.next(),
    callback: (length: number) => user.received(memory.bytes(length)),
  };
  return connect(backend, { allowHalfOpen: true, onread }, () => {
    user.connected();
  });
}

function connectSecure(connect: ConnectUpstream, backend: UpstreamTarget, user: UpstreamUser): Socket {
  const socket = connect(backend, { allowHalfOpen: true }, () => {
    passOn(socket, user);
  });
  return socket;
}

function passOn(stream: Duplex, user: UpstreamUser): void {
  user.connected();
  stream.on('data', (chunk: Buffer) => {
    if (!user.received(chunk)) stream.pause();
  });
}

/** Joins a stream that is open already. */
export function joinStream(stream: Duplex): OpenUpstream {
  return (user) => {
    // One turn later: the user is not ready before it has the stream.
    setImmediate(() => {
      if (!stream.destroyed) passOn(stream, user);
    });
    return stream;
  };
}

/** Ends a connection so that the other end can tell it from an orderly close. */
export function resetSocket(socket: Duplex): void {
  if (socket.destroyed) return;
  // A tunnel's stream is reset by that. TLS says it by the missing close_notify; on a socket that is still connecting a
  // reset would wait for the connect.
  if (!(socket instanceof Socket) || socket instanceof TLSSocket || socket.connecting || isEnding(socket))
    socket.destroy();
  else socket.resetAndDestroy();
}

/** The system refuses to reset a socket in this state, which would then stay open for ever, without another event. */
function isEnding({ writableEnded, writableFinished, writableLength }: Socket): boolean {
  return writableEnded && !writableFinished && writableLength === 0;
}
