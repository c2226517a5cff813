import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';

import type { IpAddress } from '../../../lib/ip/address.ts';

/** The TLS connection a request came on. */
export interface ClientConnection {
  /** The layer-4 peer, or who the PROXY header named. */
  readonly peer: IpAddress;
  /** The same, as it is written. */
  readonly peerText: string;
  /** True: `peer` is a trusted proxy, whose forwarding headers count. */
  readonly peerTrusted: boolean;
  /** The name of the handshake, lower case. */
  readonly servername: string;
  readonly localPort: number;
}

export type RequestBody = 'none' | 'chunked' | { readonly length: number };

/**
 * One request and its answer, whichever version of HTTP the client speaks. Three classes write answers of one form: the
 * slow path, the fast path and HTTP/2. Change all three together; the byte tests of the fast path tell if one is missed.
 */
export interface Exchange {
  readonly client: ClientConnection;
  readonly protocol: '1.0' | '1.1' | '2';
  readonly method: string;
  /** As sent: origin-form, or absolute-form in HTTP/1. */
  readonly target: string;
  /** The host as sent. */
  readonly host: string | undefined;
  /** Why two readers could see two things in this request. */
  readonly fault: string | undefined;
  /** Name, value, name, value, … as sent, without pseudo-headers. */
  readonly headers: readonly string[];
  readonly body: RequestBody;
  /** What cannot be known before the body has ended. */
  readonly trailers: readonly string[];
  readonly bodyStream: Readable;
  /** The protocols of an `Upgrade` that the client asks for. */
  readonly upgrade: string | undefined;
  readonly headSent: boolean;

  sendInterim(status: number, reason: string, headers: readonly string[]): void;
  /** Throws if the headers cannot be sent. */
  sendHead(head: AnswerHead): void;
  /** False: wait for `onDrain`. */
  write(chunk: Buffer): boolean;
  end(chunk: Buffer | undefined, trailers: readonly string[]): void;
  /** Ends a connection or stream in a way that cannot be taken for a whole answer. */
  abort(): void;
  /** Answers 101 and gives the client's socket, with the bytes that came behind the request, to the caller. */
  switchProtocols(headers: readonly string[]): { readonly socket: Socket; readonly rest: Buffer };

  onDrain: (() => void) | undefined;
  /** The exchange is over, whole or not. Called once. */
  onClose: (() => void) | undefined;
}

export interface AnswerHead {
  readonly status: number;
  readonly reason: string;
  readonly headers: readonly string[];
  /** Undefined: unknown until the body ends. */
  readonly contentLength: number | undefined;
  /** True: the connection must not carry another request. */
  readonly close: boolean;
}
