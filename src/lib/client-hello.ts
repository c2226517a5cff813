/** The start of a TLS connection, as far as it has been read. */
export type ClientHello =
  | { readonly state: 'more' }
  /**
   * No name where none, or more than one, is asked for, or the bytes are not of this form. The protocols above TLS (ALPN)
   * are left out where the client names none.
   */
  | { readonly state: 'done'; readonly serverName: string | undefined; readonly protocols?: readonly string[] };

const more: ClientHello = { state: 'more' };
const nameless: ClientHello = { state: 'done', serverName: undefined };

const recordHeader = 5;
const handshakeHeader = 4;
const handshakeRecord = 22;
const clientHelloType = 1;
const serverNameExtension = 0;
const hostNameType = 0;
const protocolsExtension = 16;
/** Longest record without encryption (RFC 8446, 5.1). */
const longestRecord = 16_384;
/** Longest message that is read; those of browsers stay below 4 kB. */
const longestHello = 16_384;
/** Most records that the message may lie in; more would only make the same bytes costly to read. */
const mostRecords = 64;
/** Version of the protocol and random bytes. */
const fixedBytes = 34;

/**
 * Reads the server name in the first message of a TLS client (RFC 8446, 4.1.2, and RFC 6066, 3). It must be given all bytes
 * that came so far. It decides where a connection goes, not what is in it: whoever terminates TLS reads it anew.
 */
export function readClientHello(bytes: Buffer): ClientHello {
  const message = joinRecords(bytes);
  if (!Buffer.isBuffer(message)) return message;
  try {
    return { state: 'done', ...readExtensions(message) };
  } catch (error) {
    if (error instanceof RangeError) return nameless;
    throw error;
  }
}

/** Returns the body of the message, which may lie in several records. */
function joinRecords(bytes: Buffer): Buffer | ClientHello {
  const parts: Buffer[] = [];
  let length = 0;
  let needed = Infinity;
  for (let at = 0; length < needed;) {
    if (bytes.length > at && bytes[at] !== handshakeRecord) return nameless;
    if (bytes.length > at + 1 && bytes[at + 1] !== 3) return nameless;
    if (bytes.length < at + recordHeader) return more;
    const size = bytes.readUInt16BE(at + 3);
    if (size === 0 || size > longestRecord || parts.length === mostRecords) return nameless;
    const part = bytes.subarray(at + recordHeader, at + recordHeader + size);
    parts.push(part);
    length += part.length;
    at += recordHeader + size;
    if (needed === Infinity && length >= handshakeHeader) {
      const start = Buffer.concat(parts);
      if (start[0] !== clientHelloType) return nameless;
      needed = handshakeHeader + start.readUIntBE(1, 3);
      if (needed > longestHello) return nameless;
    }
    if (part.length < size && length < needed) return more;
  }
  return Buffer.concat(parts).subarray(handshakeHeader, needed);
}

interface Extensions {
  readonly serverName: string | undefined;
  readonly protocols?: readonly string[];
}

/** Throws a `RangeError` where a length leads beyond the end. */
function readExtensions(body: Buffer): Extensions {
  const none = { serverName: undefined };
  let at = fixedBytes;
  at += 1 + body.readUInt8(at);
  at += 2 + body.readUInt16BE(at);
  at += 1 + body.readUInt8(at);
  if (at === body.length) return none;
  const end = at + 2 + body.readUInt16BE(at);
  if (end !== body.length) return none;
  at += 2;
  let name: string | undefined;
  let protocols: readonly string[] | undefined;
  while (at < end) {
    const type = body.readUInt16BE(at);
    const size = body.readUInt16BE(at + 2);
    at += 4 + size;
    if (at > end) return none;
    if (type === protocolsExtension) protocols = readProtocols(body.subarray(at - size, at));
    if (type !== serverNameExtension) continue;
    if (name !== undefined) return none;
    name = readNameList(body.subarray(at - size, at));
    if (name === undefined) return none;
  }
  return { serverName: name, ...(protocols === undefined ? {} : { protocols }) };
}

/** Reads the list of RFC 7301, 3.1; one that is not of its form is left to whoever terminates TLS. */
function readProtocols(list: Buffer): readonly string[] | undefined {
  if (list.length < 2 || list.readUInt16BE(0) !== list.length - 2) return undefined;
  const protocols: string[] = [];
  for (let at = 2; at < list.length;) {
    const end = at + 1 + list.readUInt8(at);
    if (end > list.length) return undefined;
    protocols.push(list.toString('latin1', at + 1, end));
    at = end;
  }
  return protocols;
}

function readNameList(list: Buffer): string | undefined {
  const size = list.readUInt16BE(3);
  const isOneName = list.readUInt16BE(0) === list.length - 2 && list[2] === hostNameType && size === list.length - 5;
  return isOneName && size > 0 ? list.toString('latin1', 5).toLowerCase() : undefined;
}
