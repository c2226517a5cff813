import { spawnSync } from 'node:child_process';

export const peerNames = ['wrk', 'nginx', 'haproxy', 'caddy', 'cc'] as const;
export type PeerName = (typeof peerNames)[number];

const versionCommands: Readonly<Record<PeerName, readonly [flag: string, answer: RegExp]>> = {
  wrk: ['--version', /wrk (\S+)/],
  nginx: ['-v', /nginx\/(\S+)/],
  haproxy: ['-v', /version (\d[\d.]*)/],
  caddy: ['version', /v?(\d[\d.]*)/],
  cc: ['--version', /(\d+\.\d+\.\d+)/],
};

const versions = new Map<PeerName, string | undefined>();

/** Returns the name and version, such as `nginx 1.22.1`, or undefined if it is not installed. */
export function versionOf(name: PeerName): string | undefined {
  if (!versions.has(name)) versions.set(name, readVersion(name));
  return versions.get(name);
}

export function installHint(missing: readonly PeerName[]): string {
  const packages = missing.map((name) => (name === 'cc' ? 'gcc libc6-dev' : name));
  const stream = missing.includes('nginx') ? ' libnginx-mod-stream' : '';
  return `On Debian: \`apt-get install ${packages.join(' ')}${stream}\``;
}

function readVersion(name: PeerName): string | undefined {
  const [flag, answer] = versionCommands[name];
  const { error, stdout, stderr } = spawnSync(name, [flag], { encoding: 'utf8' });
  if (error !== undefined) return undefined;
  return `${name} ${answer.exec(stdout + stderr)?.[1] ?? ''}`.trim();
}
