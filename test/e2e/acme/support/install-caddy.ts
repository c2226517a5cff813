import { spawnSync } from 'node:child_process';

export const installCommand = 'apt-get update && apt-get install -y --no-install-recommends caddy';

/** Installs Debian's Caddy where there is none and this user may. */
export function installCaddy(): void {
  const isThere = spawnSync('caddy', ['version']).error === undefined;
  if (isThere || process.getuid?.() !== 0 || spawnSync('apt-get', ['--version']).error !== undefined) return;
  process.stdout.write(`> ${installCommand}\n`);
  spawnSync('sh', ['-c', installCommand], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
}
