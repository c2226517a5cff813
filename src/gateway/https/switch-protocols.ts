import type { Duplex } from 'node:stream';

import { sourceKey } from '../../lib/ip/source-key.ts';
import type { Exchange } from './exchange.ts';
import type { RequestVisit } from './request-visit.ts';
import { Tunnel } from './tunnel.ts';
import type { AddressAttempt } from './upstream/address-attempt.ts';
import { acceptWebsocket } from './websocket-handshake.ts';
import { WebsocketStream } from './websocket-stream.ts';

export const switchingProtocols = 101;

/** A request after which the connection speaks another protocol than HTTP. */
export interface ProtocolSwitch {
  readonly visit: RequestVisit;
  readonly attempt: AddressAttempt | undefined;
  readonly upstream: Duplex;
  /** Time at which the request was sent. */
  readonly sentAt: number;
  /** Called before the client is told: its connection is the tunnel's from then on. */
  readonly detach: () => void;
}

const nothing = Buffer.alloc(0);

/** Joins the connections of a client and its upstream, which both speak the protocol that the upstream has named. */
export function joinUpgraded(
  change: ProtocolSwitch,
  headers: readonly string[],
  protocol: string | undefined,
  firstBytes: Buffer,
): void {
  const named = protocol === undefined ? [] : ['Upgrade', protocol];
  const client = tellClient(change, [...headers, 'Connection', 'Upgrade', ...named]);
  if (client !== undefined) join(change, client.socket, client.firstBytes, firstBytes);
}

/** Joins the bytes of a WebSocket's messages with a stream that knows nothing of HTTP. */
export function joinConverted(change: ProtocolSwitch, headers: readonly string[]): void {
  const { exchange, context } = change.visit;
  const client = tellClient(change, [...headers, ...acceptWebsocket(exchange)]);
  if (client === undefined) return;
  const messages = new WebsocketStream(client.socket, sourceKey(exchange.client.peer), context.idleMs);
  join(change, messages, nothing, nothing);
  messages.receive(client.firstBytes);
}

/** Undefined if the rules, which may have changed since the request was let in, refuse it now: then both are closed. */
function tellClient(
  { visit, attempt, upstream, sentAt, detach }: ProtocolSwitch,
  headers: readonly string[],
): ReturnType<Exchange['switchProtocols']> | undefined {
  const { exchange, context, log } = visit;
  visit.answered(switchingProtocols);
  attempt?.answered(switchingProtocols, false);
  if (!context.openTunnels.admits(visit)) {
    upstream.destroy();
    exchange.abort();
    return undefined;
  }
  detach();
  log.status = switchingProtocols;
  log.upstreamMs = performance.now() - sentAt;
  return exchange.switchProtocols(headers);
}

function join(
  { visit, attempt, upstream }: ProtocolSwitch,
  client: Duplex,
  fromClient: Buffer,
  fromUpstream: Buffer,
): void {
  const { exchange, context, log } = visit;
  const { watch, idleMs, observer } = context;
  const tunnel = new Tunnel(client, upstream, sourceKey(exchange.client.peer), watch, idleMs, () => {
    forget();
    attempt?.end();
    log.report(observer);
  });
  const forget = context.openTunnels.add(visit, () => tunnel.abort());
  tunnel.start(fromClient, fromUpstream);
}
