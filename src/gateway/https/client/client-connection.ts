import type { Socket } from 'node:net';

import { formatIp } from '../../../lib/ip/address.ts';
import type { ClientSource } from '../../../lib/ip/identify-client.ts';
import { connectionFacts } from '../../tls/connection-facts.ts';
import type { ClientConnection } from '../exchange.ts';

/** A connection on which requests can come. `tls`: the outcome of its handshake. */
export function clientConnection(
  socket: Socket,
  { source, peerTrusted, port }: ClientSource,
  tls?: Pick<ClientConnection, 'servername' | 'certificate' | 'isTls13'>,
): ClientConnection {
  return {
    peer: source,
    peerText: formatIp(source),
    peerTrusted,
    servername: tls?.servername,
    certificate: tls?.certificate,
    isTls13: tls?.isTls13 === true,
    peerPort: port,
    localAddress: socket.localAddress ?? '',
    localPort: socket.localPort ?? 0,
    facts: connectionFacts(socket, port, Date.now()),
  };
}
