import type { Call } from '../../api/call.ts';
import { parseHostPort } from '../../lib/host-port.ts';
import { formatIp, parseIp } from '../../lib/ip/address.ts';
import { isLoopback, isUnspecified } from '../../lib/ip/special-addresses.ts';
import type { Queries } from '../../store/database.ts';
import { ownersOfPort } from '../port-holders.ts';
import { processes } from '../processes/service.ts';
import type { Services } from '../services.ts';
import type { StaticBackend } from './table.ts';

/**
 * Warns of addresses that lead to the installation itself, as far as they show it: names are not looked up, and each gateway
 * checks by itself what it connects to. It is no fault: a gateway on another machine may reach another server there.
 */
export async function warnInward(services: Services, queries: Queries, call: Call, backend: StaticBackend) {
  const { addresses = [{ address: backend.address }] } = backend;
  for (const { address } of addresses) {
    const kind = await listenerAt(services, queries, address);
    if (kind === undefined) continue;
    const what = kind === 'tcp' ? 'the port of a TCP edge' : `the listener "${kind}" of this installation`;
    const text = `${address} is ${what}. Gateways on its machine do not connect to it: visitors get 502. Give the address of the server behind it`;
    call.setHeader('Gatehouse-Warning', text);
    return;
  }
}

async function listenerAt(services: Services, queries: Queries, address: string): Promise<string | undefined> {
  const parsed = parseHostPort(address);
  if (!parsed.ok) return undefined;
  const { host, port } = parsed;
  const ip = parseIp(host);
  if (ip === undefined && host !== 'localhost') return undefined;
  const isHere = ip === undefined || isLoopback(ip) || isUnspecified(ip);
  const text = ip === undefined ? host : formatIp(ip);
  const near = (await services.get(processes).listeners(queries)).filter(
    ({ addresses }) => isHere || addresses.includes(text),
  );
  const own = near.find((listener) => listener.port === port);
  if (own !== undefined) return own.kind;
  const hasEdges = near.some(({ kind }) => kind === 'tcp');
  return hasEdges && (await ownersOfPort(services, queries, port)).length > 0 ? 'tcp' : undefined;
}
