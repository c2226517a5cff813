import { isIPv6 } from 'node:net';

const signature = Buffer.from('0d0a0d0a000d0a515549540a', 'hex');

export function proxyV1(source: string): Buffer {
  const [family, destination] = isIPv6(source) ? ['TCP6', '::1'] : ['TCP4', '127.0.0.1'];
  return Buffer.from(`PROXY ${family} ${source} ${destination} 40000 443\r\n`);
}

export function proxyV2(source: string): Buffer {
  const address = isIPv6(source) ? ipv6Bytes(source) : Buffer.from(source.split('.').map(Number));
  const addresses = Buffer.concat([address, Buffer.alloc(address.length, 1), Buffer.from('9c4001bb', 'hex')]);
  const family = address.length === 16 ? 0x21 : 0x11;
  return Buffer.concat([signature, Buffer.from([0x21, family, 0, addresses.length]), addresses]);
}

/** Header of a connection of the proxy itself, such as a health check. */
export const proxyV2Local: Buffer = Buffer.concat([signature, Buffer.from([0x20, 0, 0, 0])]);

function ipv6Bytes(address: string): Buffer {
  const [left = '', right = ''] = address.split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':'));
  const missing = 8 - groups(left).length - groups(right).length;
  const all = [...groups(left), ...Array.from({ length: missing }, () => '0'), ...groups(right)];
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex');
}
