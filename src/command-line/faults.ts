import type { Config } from '../config/config.ts';
import { isSqlite } from '../lib/database-url.ts';
import type { ListenAddress } from '../lib/host-port.ts';

/** The fault of a start, with the setting to change; undefined where its own message says what to do. */
export function explainStart(error: unknown, config: Config): Error | undefined {
  const from = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(from instanceof Error) || !('code' in from)) return undefined;
  return 'port' in from ? explainListen(from, from.port, config) : explainDatabaseFile(from, config);
}

function explainListen(from: Error, port: unknown, config: Config): Error | undefined {
  const listeners = {
    'api-listen': config.apiListen,
    'https-listen': config.httpsListen,
    'http-listen': config.httpListen,
    'metrics-listen': config.metricsListen,
    'agent-listen': config.agentListen,
    'link-listen': config.linkListen,
  };
  const [flag, listener] = Object.entries(listeners).find(([, each]) => each?.port === port) ?? [];
  if (flag === undefined || listener === undefined) return undefined;
  return new Error(`it cannot listen: ${listenRemedy('code' in from ? from.code : '', flag, listener)}`, {
    cause: from,
  });
}

function listenRemedy(code: unknown, flag: string, { host, port }: ListenAddress): string {
  if (code === 'EACCES') {
    return (
      `port ${port} of --${flag} needs a right that this process does not have: ports below 1024 need ` +
      'CAP_NET_BIND_SERVICE (deploy/gatehouse.service says how), or take a port above 1023 behind a proxy or a firewall rule'
    );
  }
  if (code === 'EADDRNOTAVAIL') {
    return `no interface of this machine has the address ${host} of --${flag}; take one that it has, or 0.0.0.0 for all`;
  }
  return `another program has port ${port} of --${flag}, perhaps a Gatehouse that runs already: choose another address, or free this one`;
}

/** Result codes of SQLite for a file that is damaged, and for one that never was a database. */
const damagedCodes: ReadonlySet<number> = new Set([11, 26]);

function explainDatabaseFile(from: Error & { readonly code: unknown }, { databaseUrl }: Config): Error | undefined {
  const isOfFile = from.code === 'ERR_SQLITE_ERROR' || ('syscall' in from && from.syscall === 'mkdir');
  if (!isOfFile || !isSqlite(databaseUrl)) return undefined;
  const isDamaged = 'errcode' in from && damagedCodes.has(Number(from.errcode) & 0xff);
  const remedy = isDamaged
    ? 'is damaged, or is no SQLite database: restore a backup with "gatehouse restore FILE --force"'
    : 'cannot be opened: check --database-url and the rights on its folder';
  return new Error(`the database ${databaseUrl} ${remedy}`, { cause: from });
}
