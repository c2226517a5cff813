import type { Setting } from './setting.ts';
import { optional, orOff, readListen, readReachable, readWholeNumber } from './values.ts';

/** Settings of the links between processes: gateways reach the agents of others over them, and count rate limits together. */
export const linkSettings = {
  linkListen: {
    form: 'host:port',
    help: 'address to which other gateways connect for the agents of this process, and to count rate limits together, host:port or "off"; port 0 lets the system choose one. On several machines: an address that the other gateways reach',
    fallback: '127.0.0.1:0',
    read: orOff(readListen),
  },
  linkAddress: {
    form: 'host:port',
    help: 'where other gateways reach link_listen, if that is another address for them, for example behind NAT',
    fallback: '',
    read: optional(readReachable),
  },
  linkUnreadMib: {
    form: 'MiB',
    help: 'bytes that the visitors of agents may leave unread on one link, to a worker or to another process, in MiB; beyond that, the slowest of them is cut off',
    fallback: '256',
    read: readWholeNumber(1, 65_536),
  },
} as const satisfies Readonly<Record<string, Setting<unknown>>>;
