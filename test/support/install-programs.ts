import { spawnSync } from 'node:child_process';

/** Debian's packages for a cluster of PostgreSQL servers. */
export const patroniPackages = ['patroni', 'etcd-server', 'postgresql'];

export function installCommand(programs: readonly string[]): string {
  return `apt-get update && apt-get install -y --no-install-recommends ${programs.join(' ')}`;
}

/** Installs Debian's packages of these names for programs that are not there, where this user may. */
export function installPrograms(programs: readonly string[]): void {
  const missing = programs.filter((program) => spawnSync('which', [program]).status !== 0);
  if (missing.length === 0 || process.getuid?.() !== 0 || spawnSync('apt-get', ['--version']).error !== undefined)
    return;
  const command = installCommand(missing);
  process.stdout.write(`> ${command}\n`);
  spawnSync('sh', ['-c', command], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
}
