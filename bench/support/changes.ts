import type { ChangeablePeer } from './change-peers.ts';
import type { FilledRoute } from './edges.ts';
import { edgeHost } from './fill.ts';
import type { Gatehouse } from './gatehouse.ts';
import { HttpConnection, formatRequest } from './http-connection.ts';
import type { Endpoint } from './http-connection.ts';

let versions = 0;

/**
 * Measures milliseconds from sending a change until traffic obeys it: the change gives a response header of one host a
 * new value, and requests to that host follow each other until a response has it.
 */
async function untilLive(change: (version: string) => Promise<void>, probe: () => Promise<string>): Promise<number> {
  const version = `v${(versions += 1)}`;
  const seen = new RegExp(`\\r\\nx-version: ${version}(?:\\r|$)`, 'i');
  const startMs = performance.now();
  const answered = change(version);
  while (!seen.test(await probe()));
  const liveMs = performance.now() - startMs;
  await answered;
  return liveMs;
}

/** Returns a function that changes the route once and measures it, by traffic of this or another process; its connections stay open between calls. */
export function changeRoute(
  gatehouse: Gatehouse,
  route: FilledRoute,
  trafficPort: number = gatehouse.httpsPort,
): () => Promise<number> {
  const api = keptOpen({ port: gatehouse.apiPort });
  const traffic = keptOpen({ port: trafficPort, servername: route.host });
  const headers = { ...gatehouse.headers, Host: 'localhost', 'Content-Type': 'application/json' };
  const request = formatRequest('GET', '/', { Host: route.host });
  return async () => {
    const [calls, probes] = [await api(), await traffic()];
    // The first request of a connection is slower, so it is not measured.
    await probes.send(request);
    return untilLive(
      async (version) => {
        const body = JSON.stringify({ add: { 'x-version': version } });
        const answer = await calls.send(formatRequest('PUT', `${route.path}/response_headers`, headers, body));
        if (answer.status !== 200) throw new Error(`the change was answered with ${answer.status}: ${answer.body}`);
      },
      async () => (await probes.send(request)).head,
    );
  };
}

/** Returns the open connection, or a new one if the server has closed it for idleness. */
function keptOpen(endpoint: Endpoint): () => Promise<HttpConnection> {
  let connection: HttpConnection | undefined;
  return async () => (connection = connection?.closed === false ? connection : await HttpConnection.open(endpoint));
}

/** Measures one change of a peer. Peers may close connections when they reload, so each probe opens a new one. */
export function changePeer(peer: ChangeablePeer, at: number): Promise<number> {
  return untilLive(
    (version) => peer.change(at, version),
    async () => {
      try {
        const connection = await HttpConnection.open({ port: peer.port });
        const { head } = await connection.send(formatRequest('GET', '/', { Host: edgeHost(at), Connection: 'close' }));
        connection.close();
        return head;
      } catch {
        return '';
      }
    },
  );
}
