import pg from 'pg';

/** A lost signal is repaired by looking this often. */
const pollEveryMs = 1_000;
const channel = 'gatehouse_changes';

export const notifySql = `SELECT pg_notify('${channel}', '')`;
const listenSql = `LISTEN ${channel}`;

/**
 * Looks when another process says that it has written, and on a timer. The connection is asked in turn as well: one that
 * the network has forgotten hears nothing, and does not know it.
 */
export async function watchNotifications(config: pg.ClientConfig, poll: () => void): Promise<() => Promise<void>> {
  let listener: pg.Client | undefined;
  let isStopped = false;
  let isBusy = false;

  const listen = async () => {
    const client = new pg.Client(config);
    client.on('error', () => {});
    client.on('notification', poll);
    client.on('end', () => {
      if (client !== listener) return;
      listener = undefined;
      void keepListening();
    });
    try {
      await client.connect();
      await client.query(listenSql);
    } catch (error) {
      drop(client);
      throw error;
    }
    listener = client;
  };

  const keepListening = async () => {
    if (isBusy || isStopped) return;
    isBusy = true;
    const asked = listener;
    try {
      if (asked === undefined) {
        await listen();
        // For what was said while nobody listened.
        poll();
      } else {
        await asked.query(listenSql);
      }
    } catch {
      // The timer comes again.
      if (listener === asked) listener = undefined;
      if (asked !== undefined) drop(asked);
    } finally {
      isBusy = false;
    }
  };

  await listen();
  const timer = setInterval(() => {
    poll();
    void keepListening();
  }, pollEveryMs);
  timer.unref();
  return async () => {
    isStopped = true;
    clearInterval(timer);
    const last = listener;
    listener = undefined;
    if (last !== undefined) drop(last);
  };
}

/** Not waited for: one that is silent would not answer this either. */
function drop(client: pg.Client): void {
  client.end().catch(() => {});
}
