import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';

import { regionName } from '../../modules/region.ts';
import type { ConnectionFacts, TlsFacts } from '../../modules/step.ts';

/** Reads the facts of a connection when somebody asks for them. */
export function connectionFacts(socket: Socket, clientPort: number, startedMs: number): () => ConnectionFacts {
  return () => ({
    clientPort,
    serverAddress: socket.localAddress ?? '',
    serverPort: socket.localPort ?? 0,
    serverRegion: regionName(),
    startedMs,
    bytesIn: socket.bytesRead,
    bytesOut: socket.bytesWritten,
    tls: socket instanceof TLSSocket ? tlsFacts(socket) : undefined,
  });
}

function tlsFacts(socket: TLSSocket): TlsFacts {
  // Node knows the name of a server that was set by a callback as `servername` alone.
  const { servername } = socket as TLSSocket & { readonly servername?: string | false | null };
  return {
    version: socket.getProtocol()?.replace(/^TLSv/, '') ?? '',
    cipherSuite: (socket.getCipher() as { readonly standardName?: string } | undefined)?.standardName ?? '',
    sni: typeof servername === 'string' ? servername : '',
    alpn: typeof socket.alpnProtocol === 'string' ? socket.alpnProtocol : '',
    isResumed: socket.isSessionReused(),
    isClientVerified: socket.authorized,
    clientCertificate: () => socket.getPeerX509Certificate(),
  };
}
