import { ipFromIpv4Word, ipFromIpv6Words, parseIp } from './address.ts';
import type { IpAddress } from './address.ts';

export type ProxyHeader =
  | { readonly state: 'more' }
  | {
      readonly state: 'done';
      /** Undefined where the proxy speaks for itself or does not know; the source is the peer of the connection then. */
      readonly source: IpAddress | undefined;
      /** The bytes that came after the header. */
      readonly rest: Buffer;
    }
  | { readonly state: 'bad'; readonly reason: string };

const more: ProxyHeader = { state: 'more' };
const v1Start = Buffer.from('PROXY ');
/** The longest header line, with its line end. */
const v1MaxBytes = 107;
const v2Signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
const v2FixedBytes = 16;
/** The most that addresses and extensions may take; senders stay far below. */
const v2MaxBytes = 4096;

const portPattern = '(0|[1-9][0-9]{0,4})';
const v1Line = new RegExp(`^PROXY TCP([46]) ([0-9A-Fa-f.:]+) ([0-9A-Fa-f.:]+) ${portPattern} ${portPattern}$`);
const v1UnknownLine = /^PROXY UNKNOWN(?: |$)/;

/**
 * Reads the header of the PROXY protocol, version 1 or 2, from the start of a connection. It takes
 * chunks until it returns something else than `more`, and then no longer. It holds back at most one header.
 */
export class ProxyHeaderReader {
  #held: Buffer = Buffer.alloc(0);

  push(chunk: Buffer): ProxyHeader {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    this.#held = bytes;
    if (startsLike(bytes, v1Start)) return bytes.length < v1Start.length ? more : readV1(bytes);
    if (startsLike(bytes, v2Signature)) return bytes.length < v2FixedBytes ? more : readV2(bytes);
    return bad('the connection does not start with a PROXY protocol header');
  }
}

function startsLike(bytes: Buffer, start: Buffer): boolean {
  const length = Math.min(bytes.length, start.length);
  return bytes.compare(start, 0, length, 0, length) === 0;
}

function readV1(bytes: Buffer): ProxyHeader {
  const lineFeed = bytes.subarray(0, v1MaxBytes).indexOf('\n');
  if (lineFeed < 0) return bytes.length < v1MaxBytes ? more : bad(`the header line is longer than ${v1MaxBytes} bytes`);
  const line = bytes.toString('latin1', 0, lineFeed - 1);
  if (bytes[lineFeed - 1] !== 0x0d) return bad('the header line does not end in CR LF');
  const rest = bytes.subarray(lineFeed + 1);
  if (v1UnknownLine.test(line)) return { state: 'done', source: undefined, rest };
  const [, family, source = '', destination = '', sourcePort, destinationPort] = v1Line.exec(line) ?? [];
  if (family === undefined) return bad('the header line is malformed');
  const ip = readV1Address(family, source);
  if (ip === undefined || readV1Address(family, destination) === undefined)
    return bad(`the header line has an address that is not IPv${family}`);
  if (Number(sourcePort) > 65535 || Number(destinationPort) > 65535)
    return bad('the header line has a port over 65535');
  return { state: 'done', source: ip, rest };
}

function readV1Address(family: string, text: string): IpAddress | undefined {
  return text.includes(':') === (family === '6') ? parseIp(text) : undefined;
}

function readV2(bytes: Buffer): ProxyHeader {
  const versionAndCommand = bytes.readUInt8(12);
  const length = bytes.readUInt16BE(14);
  if (versionAndCommand >>> 4 !== 2) return bad(`version ${versionAndCommand >>> 4} is not supported`);
  const command = versionAndCommand & 15;
  if (command > 1) return bad(`command ${command} is not supported`);
  if (length > v2MaxBytes) return bad(`the header announces ${length} bytes, more than ${v2MaxBytes}`);
  const isLocal = command === 0;
  // A LOCAL header's family is to be ignored, whatever it is.
  const addressBytes = isLocal ? 0 : v2AddressBytes(bytes.readUInt8(13));
  if (addressBytes === undefined) return bad('the header is not about TCP over IPv4 or IPv6');
  if (length < addressBytes) return bad('the header is too short for its addresses');
  const end = v2FixedBytes + length;
  if (bytes.length < end) return more;
  return { state: 'done', source: readV2Source(bytes, addressBytes), rest: bytes.subarray(end) };
}

/** Bytes of both addresses and ports; 0 for a family the sender left open. */
function v2AddressBytes(familyAndTransport: number): number | undefined {
  switch (familyAndTransport) {
    case 0x00:
      return 0;
    case 0x11:
      return 12;
    case 0x21:
      return 36;
    default:
      return undefined;
  }
}

/** The layout is source address, destination address, source port, destination port. */
function readV2Source(bytes: Buffer, addressBytes: number): IpAddress | undefined {
  const word = (at: number): number => bytes.readUInt32BE(v2FixedBytes + at * 4);
  if (addressBytes === 0) return undefined;
  return addressBytes === 12 ? ipFromIpv4Word(word(0)) : ipFromIpv6Words(word(0), word(1), word(2), word(3));
}

function bad(reason: string): ProxyHeader {
  return { state: 'bad', reason };
}
