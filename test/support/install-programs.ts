import { spawnSync } from 'node:child_process';

/** Debian's packages for a cluster of PostgreSQL servers. */
export const patroniPackages = ['patroni', 'etcd-server', 'postgresql'];

/** Commands that succeed where a package is there; the others have a program of their own name. */
const probes: Readonly<Record<string, readonly [program: string, ...args: string[]]>> = {
  'etcd-server': ['etcd', '--version'],
  iproute2: ['ip', '-V'],
  'libnginx-mod-stream': ['sh', '-c', 'ls /usr/lib/nginx/modules/ngx_stream_module.so'],
  // That of the package may not be the first on the path.
  'python3-requests': ['sh', '-c', 'python3 -c "import requests" || /usr/bin/python3 -c "import requests"'],
  postgresql: ['sh', '-c', 'ls /usr/lib/postgresql/*/bin/pg_dump'],
  procps: ['ps', '--version'],
};

/** Packages beside a bare Debian that tests of these files start programs of. */
const needs: readonly (readonly [files: RegExp, packages: readonly string[]])[] = [
  [/./, ['openssl', 'procps']],
  [/acme/, ['caddy', 'iproute2']],
  [/old-agent/, ['iproute2']],
  [/failover/, ['pgbouncer']],
  [/completion/, ['zsh', 'fish']],
  [/e2e\/pages|terminal-start|protocols|certificates|https-bodies|src\/main/, ['curl']],
  [/python/, ['python3-requests']],
];
const needsOfLongForm: typeof needs = [
  [/failover/, patroniPackages],
  [/restored/, ['postgresql']],
];

/** Debian's packages that these test files need. */
export function packagesFor(files: readonly string[], isLong: boolean): readonly string[] {
  const all = isLong ? [...needs, ...needsOfLongForm] : needs;
  return [...new Set(all.flatMap(([pattern, names]) => (files.some((file) => pattern.test(file)) ? names : [])))];
}

export function installCommand(packages: readonly string[]): string {
  return `apt-get update && apt-get install -y --no-install-recommends ${packages.join(' ')}`;
}

/** Installs those of Debian's packages that are not there, where this user may; returns what is missing then. */
export function installPackages(packages: readonly string[]): readonly string[] {
  const missing = packages.filter((name) => !isThere(name));
  if (missing.length === 0 || process.getuid?.() !== 0 || spawnSync('apt-get', ['--version']).error !== undefined)
    return missing;
  const command = installCommand(missing);
  process.stdout.write(`> ${command}\n`);
  spawnSync('sh', ['-c', command], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: { ...process.env, DEBIAN_FRONTEND: 'noninteractive' },
  });
  return missing.filter((name) => !isThere(name));
}

function isThere(name: string): boolean {
  const [program, ...args] = probes[name] ?? ['which', name];
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0;
}
