import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { freePort } from '../../../support/free-port.ts';
import { installCommand } from '../../../support/install-programs.ts';
import { until } from '../../gateway/support/until.ts';

/** Debian's PgBouncer in transaction mode before a server, with one connection: whoever needs two at once gets none. */
export async function startPgBouncer(serverPort: number): Promise<AsyncDisposable & { readonly url: string }> {
  if (spawnSync('pgbouncer', ['--version']).error !== undefined)
    throw new Error(`This test needs PgBouncer. Run "${installCommand(['pgbouncer'])}" as root.`);
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-pgbouncer-'));
  await chmod(folder, 0o755);
  const port = await freePort();
  const settings = [
    '[databases]',
    `postgres = host=127.0.0.1 port=${serverPort} dbname=postgres user=postgres`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    'default_pool_size = 1',
  ];
  await writeFile(join(folder, 'pgbouncer.ini'), settings.join('\n'), { mode: 0o644 });
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const child = spawn('pgbouncer', [...user, join(folder, 'pgbouncer.ini')], { stdio: 'ignore' });
  const isOpen = async () => {
    const socket = connect(port, '127.0.0.1');
    try {
      await once(socket, 'connect');
      return true;
    } catch {
      return false;
    } finally {
      socket.destroy();
    }
  };
  await until(isOpen, 'PgBouncer listens');
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    async [Symbol.asyncDispose]() {
      const gone = once(child, 'exit');
      child.kill('SIGTERM');
      await gone;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
