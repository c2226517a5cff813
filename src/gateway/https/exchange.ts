import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';

import type { UserError } from '../../errors/user-error.ts';
import type { IpAddress } from '../../lib/ip/address.ts';
import type { ShownCertificate } from '../tls/shown-certificate.ts';

/** The connection a request came on. */
export interface ClientConnection {
  /** The peer of the TCP connection, or the client that the PROXY header names. */
  readonly peer: IpAddress;
  /** `peer` as text. */
  readonly peerText: string;
  /** True: `peer` is a trusted proxy, whose forwarding headers count. */
  readonly peerTrusted: boolean;
  /** Server name of the TLS handshake, in lower case; undefined without TLS. */
  readonly servername: string | undefined;
  /** False: an older version, or no TLS. */
  readonly isTls13: boolean;
  /** Undefined if the handshake did not ask for one. */
  readonly certificate: ShownCertificate | undefined;
  /** Port of `peer`; 0 where it is not known. */
  readonly peerPort: number;
  readonly localAddress: string;
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
  /** Target as sent: origin-form, or absolute-form in HTTP/1. */
  readonly target: string;
  /** Host as sent. */
  readonly host: string | undefined;
  /** The error to answer with, if two readers could read this request differently; its connection is then closed. */
  readonly fault: UserError | undefined;
  /** Name, value, name, value, … as sent, without pseudo-headers. */
  readonly headers: readonly string[];
  readonly body: RequestBody;
  /** Empty until the body has ended. */
  readonly trailers: readonly string[];
  readonly bodyStream: Readable;
  /** The whole body, where a module had to see it first; `bodyStream` has then been read. */
  heldBody: Buffer | undefined;
  /** Protocols of an `Upgrade` that the client asks for. */
  readonly upgrade: string | undefined;
  readonly headSent: boolean;

  sendInterim(status: number, reason: string, headers: readonly string[]): void;
  /** Throws if the headers cannot be sent. */
  sendHead(head: AnswerHead): void;
  /** A head that waits for the body, to go out in one write with it, waits no longer. */
  flushHead(): void;
  /** False: wait for `onDrain`. */
  write(chunk: Buffer): boolean;
  end(chunk: Buffer | undefined, trailers: readonly string[]): void;
  /** Ends a connection or stream in a way that cannot be taken for a whole answer. */
  abort(): void;
  /** Answers 101 and hands the client's socket over, with the bytes that came behind the request. */
  switchProtocols(headers: readonly string[]): { readonly socket: Socket; readonly firstBytes: Buffer };

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
