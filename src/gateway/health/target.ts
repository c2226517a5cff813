import type { AddressEntry, BackendEntry } from '../../snapshot/contract.ts';
import type { UpstreamTarget } from '../upstream/connect.ts';
import { hashText } from './hash.ts';

/** One address of a backend, as it is chosen. */
export class Target implements UpstreamTarget {
  /** Id of the backend. */
  readonly id: string;
  readonly accountId: string | undefined;
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** As operators write it; tells the addresses of a backend apart. */
  readonly address: string;
  /** 0: gets nothing. */
  weight: number;
  readonly seed: number;
  /** Requests and connections of this process that it serves now. */
  inUse = 0;
  isDown = false;
  /** Something failed, and nothing has succeeded since. */
  isFailing = false;
  /** When a request may try it again; infinite: only checks bring it back. */
  trialAtMs = Infinity;
  /** When it came back; long ago where it was not away. */
  upAtMs = -Infinity;

  constructor(
    { id, tls, accountId }: Pick<BackendEntry, 'id' | 'tls' | 'accountId'>,
    { host, port, weight }: AddressEntry,
  ) {
    this.id = id;
    this.accountId = accountId;
    this.host = host;
    this.port = port;
    this.tls = tls;
    this.address = formatAddress({ host, port });
    this.weight = weight;
    this.seed = hashText(this.address);
  }
}

export function formatAddress({ host, port }: Pick<AddressEntry, 'host' | 'port'>): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
