import { formatIp } from './address.ts';
import type { IpAddress } from './address.ts';

/** One end of a connection. */
export interface IpEndpoint {
  readonly ip: IpAddress;
  /** 0 where it is not known. */
  readonly port: number;
}

const v2Signature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1');
/** Version 2, command PROXY. */
const v2Command = 0x21;

/** Writes the header of the PROXY protocol, for a connection over TCP. Both ends are written in one family. */
export function formatProxyHeader(version: 1 | 2, source: IpEndpoint, destination: IpEndpoint): Buffer {
  const isIpv4 = source.ip.family === 4 && destination.ip.family === 4;
  return version === 1 ? formatV1(source, destination, isIpv4) : formatV2(source, destination, isIpv4);
}

function formatV1(source: IpEndpoint, destination: IpEndpoint, isIpv4: boolean): Buffer {
  const [from, to] = [source, destination].map(({ ip }) =>
    isIpv4 || ip.family === 6 ? formatIp(ip) : `::ffff:${formatIp(ip)}`,
  );
  return Buffer.from(`PROXY TCP${isIpv4 ? 4 : 6} ${from} ${to} ${source.port} ${destination.port}\r\n`);
}

function formatV2(source: IpEndpoint, destination: IpEndpoint, isIpv4: boolean): Buffer {
  const block = [...ipBytes(source.ip, isIpv4), ...ipBytes(destination.ip, isIpv4)];
  for (const { port } of [source, destination]) block.push(port >> 8, port & 255);
  return Buffer.from([...v2Signature, v2Command, isIpv4 ? 0x11 : 0x21, 0, block.length, ...block]);
}

function ipBytes({ family, word0, word1, word2, word3 }: IpAddress, isIpv4: boolean): readonly number[] {
  if (isIpv4) return wordBytes(word0);
  const words = family === 4 ? [0, 0, 0xffff, word0] : [word0, word1, word2, word3];
  return words.flatMap(wordBytes);
}

function wordBytes(word: number): readonly number[] {
  return [word >>> 24, (word >>> 16) & 255, (word >>> 8) & 255, word & 255];
}
