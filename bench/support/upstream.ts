import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { startServer } from './bare-servers.ts';
import type { Listening } from './bare-servers.ts';
import { loadCores } from './cores.ts';
import { nginxCommand, startProgram } from './peer-programs.ts';
import { versionOf } from './peers.ts';
import { scratchFolder } from './scratch.ts';

export const upstreamBody = 'x'.repeat(350);

/**
 * Starts the upstream of the proxies: 350 bytes at `/`, a megabyte at `/bulk`. It is nginx where installed, which
 * leaves most of its core to the load.
 */
export async function startUpstream(): Promise<Listening> {
  if (versionOf('nginx') === undefined) return startServer('upstream', [upstreamBody], { cores: loadCores });
  const files = join(await scratchFolder(), 'upstream');
  mkdirSync(files, { recursive: true });
  writeFileSync(join(files, 'bulk'), 'x'.repeat(1_000_000));
  return startProgram(
    async (port) =>
      nginxCommand(`
        http {
          access_log off;
          sendfile on;
          keepalive_requests 1000000000;
          server {
            listen 127.0.0.1:${port} backlog=4096;
            location = /bulk { root ${files}; }
            location / { return 200 '${upstreamBody}'; }
          }
        }`),
    loadCores,
  );
}
