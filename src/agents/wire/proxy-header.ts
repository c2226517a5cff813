import { FieldReader } from './fields.ts';
import { isObject } from './json-value.ts';
import { streamTypes, typedStart } from './stream-types.ts';

/** The kind of endpoint that a visitor came through, as agents are told it. */
export const edgeTypes = { undefined: '0', tcp: '1', tls: '2', https: '3' } as const;

/** Tells an agent what it gets with a stream of a visitor. */
export interface ProxyHeader {
  readonly tunnelId: string;
  /** `ip:port` of the visitor, with an IPv6 address in brackets. */
  readonly clientAddr: string;
  /** The protocol of the endpoint; for http and https some agents answer 502 themselves if their upstream is down. */
  readonly proto: 'http' | 'https' | 'tcp' | 'tls';
  readonly edgeType: keyof typeof edgeTypes;
  /** True if the bytes are the visitor's own TLS. */
  readonly passthroughTls: boolean;
}

const lengthBytes = 8;
const maxHeaderBytes = 16 * 1024;
const protos = ['http', 'https', 'tcp', 'tls'] as const;

/** The start of a visitor's stream, to be sent in its first frame. `first` are bytes of the visitor that have come already. */
export function proxyStart(header: ProxyHeader, first?: Buffer): Buffer {
  const json = Buffer.from(
    JSON.stringify({
      Id: header.tunnelId,
      ClientAddr: header.clientAddr,
      Proto: header.proto,
      EdgeType: edgeTypes[header.edgeType],
      PassthroughTLS: header.passthroughTls,
    }),
  );
  const length = Buffer.alloc(lengthBytes);
  // Unlike everything else on this wire, little endian.
  length.writeUInt32LE(json.length, 0);
  return typedStart(streamTypes.proxy, Buffer.concat(first === undefined ? [length, json] : [length, json, first]));
}

export type ProxyHeaderRead =
  | { readonly state: 'more' }
  | { readonly state: 'done'; readonly header: ProxyHeader; readonly rest: Buffer }
  | { readonly state: 'bad'; readonly reason: string };

/** Reads the header behind the type of a stream; for agents. It must be given all bytes that came so far. */
export function readProxyHeader(bytes: Buffer): ProxyHeaderRead {
  if (bytes.length < lengthBytes) return { state: 'more' };
  const length = bytes.readUInt32LE(0);
  if (bytes.readUInt32LE(4) !== 0 || length > maxHeaderBytes) return bad('its length is not acceptable');
  const end = lengthBytes + length;
  if (bytes.length < end) return { state: 'more' };
  try {
    return { state: 'done', header: parseHeader(bytes.toString('utf8', lengthBytes, end)), rest: bytes.subarray(end) };
  } catch (error) {
    return bad(error instanceof Error ? error.message : String(error));
  }
}

function parseHeader(text: string): ProxyHeader {
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) throw new Error('it is not an object');
  const fields = new FieldReader(value);
  const code = fields.text('EdgeType', 8);
  const [edgeType = 'undefined'] = Object.entries(edgeTypes).find(([, each]) => each === code) ?? [];
  return {
    tunnelId: fields.text('Id', 128),
    clientAddr: fields.text('ClientAddr', 128),
    proto: fields.oneOf('Proto', protos),
    // A key of the table that was just looked up.
    edgeType: edgeType as keyof typeof edgeTypes,
    passthroughTls: fields.flag('PassthroughTLS'),
  };
}

function bad(reason: string): ProxyHeaderRead {
  return { state: 'bad', reason };
}
