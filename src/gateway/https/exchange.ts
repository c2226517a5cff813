import type { Socket } from 'node:net';

import type { UserError } from '../../errors/user-error.ts';
import type { IpAddress } from '../../lib/ip/address.ts';
import type { ShownCertificate } from '../../modules/shown-certificate.ts';
import type { ConnectionFacts } from '../../modules/step.ts';
import type { OwnOrigin } from './own-exchange.ts';
import type { ReplayOrigin } from './replays.ts';

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
  readonly facts: () => ConnectionFacts;
}

export type RequestBody = 'none' | 'chunked' | { readonly length: number };

/** Where the bytes of a request's body come from. */
export interface RequestBodySource {
  /** Takes the body, from its first byte on. Called once, unless the body is dropped. */
  read(onBytes: (bytes: Buffer) => void, onEnd: () => void): void;
  /** Some bytes may still come: those that have been read already. */
  pause(): void;
  resume(): void;
  /** Reads what is left and forgets it, so that the client sees its answer. Nobody is called any more. */
  drop(): void;
}

/** One request and its answer, whichever version of HTTP the client speaks. */
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
  readonly bodySource: RequestBodySource;
  /** The whole body, where a module had to see it first; `bodySource` has then been read. */
  heldBody: Buffer | undefined;
  /** Protocols of an `Upgrade` that the client asks for. */
  readonly upgrade: string | undefined;
  readonly headSent: boolean;
  /** Bytes of the answer's body so far. */
  readonly bodyBytes: number;
  /** Set where a rule has made it. */
  readonly own?: OwnOrigin;
  /** Set where an admin has made it of one that was recorded. */
  readonly replay?: ReplayOrigin;

  sendInterim(status: number, reason: string, headers: readonly string[]): void;
  /** Throws if the headers cannot be sent. */
  sendHead(head: AnswerHead): void;
  /** A head that waits for the body, to go out in one write with it, waits no longer. */
  flushHead(): void;
  /** False: wait for `onDrain`. Calls `written` when none of it waits any more. */
  write(chunk: Buffer, written: () => void): boolean;
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
