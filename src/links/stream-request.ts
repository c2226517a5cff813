import type { MuxStream, StreamReceiver } from '../agents/mux/mux-stream.ts';
import { FieldReader } from '../agents/wire/fields.ts';
import { isObject } from '../agents/wire/json-value.ts';
import { streamTypes, typedStart } from '../agents/wire/stream-types.ts';

/** Asks for a connection through a tunnel, and says who comes. */
export interface StreamRequest {
  readonly tunnelId: string;
  /** Id of the process that holds the session of the agent. */
  readonly holder: string;
  /** `ip:port` of the visitor, with an IPv6 address in brackets. */
  readonly address: string;
  readonly proto: 'http' | 'https' | 'tcp' | 'tls';
  /** True if the bytes are the visitor's own TLS. */
  readonly isTls: boolean;
}

export const refusalReasons = ['gone', 'full', 'unreachable'] as const;
export type RefusalReason = (typeof refusalReasons)[number];

/** A stream that was not opened. */
export class StreamRefused extends Error {
  override readonly name = 'StreamRefused';
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, message: string) {
    super(message);
    this.reason = reason;
  }
}

/** The user of a stream that is being opened. `attach` is called before anything comes on the stream. */
export interface StreamUser extends StreamReceiver {
  attach(stream: MuxStream): unknown;
}

/**
 * Opens a stream through the tunnel, wherever its session is held, and attaches the user to it. Rejects with
 * `StreamRefused`, after which the user hears nothing.
 */
export type OpenStream = (request: StreamRequest, user: StreamUser) => Promise<void>;

/** For a process that reaches no agents, or none yet. */
export const openNothing: OpenStream = () =>
  Promise.reject(new StreamRefused('unreachable', 'this process reaches no agents'));

const lengthBytes = 2;
const maxRequestBytes = 4096;
const protos = ['http', 'https', 'tcp', 'tls'] as const;

/** The start of a stream over a link. */
export function requestStart({ tunnelId, holder, address, proto, isTls }: StreamRequest): Buffer {
  const json = Buffer.from(JSON.stringify({ tunnelId, holder, address, proto, isTls }));
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt16BE(json.length);
  return typedStart(streamTypes.proxy, Buffer.concat([length, json]));
}

export type RequestRead =
  | { readonly state: 'more' }
  | { readonly state: 'done'; readonly request: StreamRequest }
  | { readonly state: 'bad' };

/** Reads a request from behind the type of its stream; `bytes` are all that came so far. Nothing may follow it. */
export function readRequest(bytes: Buffer): RequestRead {
  if (bytes.length < lengthBytes) return { state: 'more' };
  const end = lengthBytes + bytes.readUInt16BE(0);
  if (end > maxRequestBytes || bytes.length > end) return { state: 'bad' };
  if (bytes.length < end) return { state: 'more' };
  try {
    return { state: 'done', request: parseRequest(bytes.toString('utf8', lengthBytes)) };
  } catch {
    return { state: 'bad' };
  }
}

function parseRequest(text: string): StreamRequest {
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) throw new Error('it is not an object');
  const fields = new FieldReader(value);
  return {
    tunnelId: fields.text('tunnelId', 128),
    holder: fields.text('holder', 128),
    address: fields.text('address', 128),
    proto: fields.oneOf('proto', protos),
    isTls: fields.flag('isTls'),
  };
}
