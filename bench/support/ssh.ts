import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { userInfo } from 'node:os';

import type { Listening } from './bare-servers.ts';
import { loadCores } from './cores.ts';
import { writeScratch } from './peer-programs.ts';
import { freePort, Process } from './process.ts';
import { scratchFolder } from './scratch.ts';

/** The server must be called by its whole path. */
const sshd = '/usr/sbin/sshd';
/** Where a server that root starts wants an empty folder. */
const emptyFolder = '/run/sshd';

export const hasSsh = existsSync(sshd) && spawnSync('ssh', ['-V']).error === undefined;
export const sshHint = 'Left out: on Debian `apt-get install openssh-server openssh-client`.';

/** Starts `ssh -R`: a server of its own on the server's core, and the client, as the agent, on the others. */
export async function startSshTunnel(upstreamPort: number): Promise<Listening> {
  await using started = new AsyncDisposableStack();
  const [hostKey, userKey] = [await makeKey('host'), await makeKey('user')];
  const [sshPort, port] = [await freePort(), await freePort()];
  const config = await writeScratch(
    'sshd.conf',
    [
      `ListenAddress 127.0.0.1:${sshPort}`,
      `HostKey ${hostKey}`,
      `AuthorizedKeysFile ${userKey}.pub`,
      'PidFile none',
      'StrictModes no',
      'UsePAM no',
      'PermitRootLogin yes',
    ].join('\n'),
  );
  if (userInfo().uid === 0) mkdirSync(emptyFolder, { recursive: true });
  const server = started.use(new Process([sshd, '-D', '-e', '-f', config]));
  await server.untilListening(sshPort);
  const options = ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'ExitOnForwardFailure=yes'];
  const forward = `127.0.0.1:${port}:127.0.0.1:${upstreamPort}`;
  const given = ['-N', '-i', userKey, '-p', String(sshPort), ...options.flatMap((each) => ['-o', each]), '-R', forward];
  const client = started.use(new Process(['ssh', ...given, `${userInfo().username}@127.0.0.1`], { cores: loadCores }));
  await client.untilListening(port);
  const owned = started.move();
  return { process: server, port, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function makeKey(name: string): Promise<string> {
  const file = join(await scratchFolder(), `${name}-key`);
  if (!existsSync(file)) execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file]);
  return file;
}
