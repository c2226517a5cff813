import type { ChangeablePeer } from './change-peers.ts';
import type { FilledRoute } from './edges.ts';
import { edgeHost } from './fill.ts';
import type { Gatehouse } from './gatehouse.ts';
import { HttpConnection, formatRequest } from './http-connection.ts';
import type { Endpoint } from './http-connection.ts';

let versions = 0;

/**
 * Milliseconds from sending a change until traffic shows it: the change adds a response header with a new value to one
 * host, and requests to that host are made one after the other until one answers with it.
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

/** Answers how to change and to watch the route once; the connections for it stay open. */
export function changeRoute(gatehouse: Gatehouse, route: FilledRoute): () => Promise<number> {
  const api = keptOpen({ port: gatehouse.apiPort });
  const traffic = keptOpen({ port: gatehouse.httpsPort, servername: route.host });
  const headers = { ...gatehouse.headers, Host: 'localhost', 'Content-Type': 'application/json' };
  const request = formatRequest('GET', '/', { Host: route.host });
  return async () => {
    const [calls, looks] = [await api(), await traffic()];
    // The first request of a connection is not the one to measure.
    await looks.send(request);
    return untilLive(
      async (version) => {
        const body = JSON.stringify({ add: { 'x-version': version } });
        const answer = await calls.send(formatRequest('PUT', `${route.path}/response_headers`, headers, body));
        if (answer.status !== 200) throw new Error(`the change was answered with ${answer.status}: ${answer.body}`);
      },
      async () => (await looks.send(request)).head,
    );
  };
}

/** A server closes connections that are not used for a while. */
function keptOpen(endpoint: Endpoint): () => Promise<HttpConnection> {
  let connection: HttpConnection | undefined;
  return async () => (connection = connection?.closed === false ? connection : await HttpConnection.open(endpoint));
}

/** Peers may close connections when they reload, so that each look is a new one. */
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
