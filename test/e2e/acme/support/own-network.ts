import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { installCommand } from '../../../support/install-programs.ts';
import { directoryHost, directoryPort, names } from './names.ts';

/** True in the process that runs in a network of its own, before a certificate authority of its own. */
export const isInside = process.env['TEST_ACME_INSIDE'] === '1';

const enter = ['--net', '--mount', '--pid', '--fork', '--kill-child', '--mount-proc'];

/** Debian's Caddy is a real ACME server. It issues for 12 hours. */
const caddyfile = (folder: string) => `{
	admin off
	auto_https disable_redirects
	skip_install_trust
	storage file_system ${folder}/caddy
}
https://${directoryHost}:${directoryPort} {
	tls internal
	acme_server
}
`;

/**
 * Lets the test file run again where it may: as root of a network and a file system of its own, with Caddy's root trusted.
 * The names in the hosts file lead to addresses of the loopback interface, and nothing outside is reached.
 */
const script = `
ip link set lo up
mount --bind "$1/hosts" /etc/hosts
mount --bind "$1/resolv.conf" /etc/resolv.conf
export TEST_ACME_FOLDER="$1"
HOME="$1" XDG_DATA_HOME="$1" caddy run --config "$1/Caddyfile" --adapter caddyfile > "$1/caddy.log" 2>&1 &
echo $! > "$1/caddy.pid"
root="$1/caddy/pki/authorities/local/root.crt"
for i in $(seq 300); do [ -s "$root" ] && break; sleep 0.1; done
shift
NODE_EXTRA_CA_CERTS="$root" exec "$@"
`;

/** One test that runs the file again inside, and passes if so many tests pass there. */
export function runInside(file: string, count: number): void {
  test('public certificates, before a real authority in a network of its own', async (t) => {
    if (spawnSync('unshare', [...enter, 'true']).status !== 0) {
      t.diagnostic('NOT TRIED: no network of its own can be made here. It needs root, and the programs unshare and ip');
      return;
    }
    const { error } = spawnSync('caddy', ['version']);
    assert.equal(
      error,
      undefined,
      `These tests need Caddy, as an ACME server. Run "${installCommand(['caddy'])}" as root.`,
    );
    const folder = mkdtempSync(join(tmpdir(), 'gatehouse-acme-'));
    t.after(() => {
      rmSync(folder, { recursive: true, force: true });
    });
    const hosts = Object.entries(names).map(([name, address]) => `${address} ${name}\n`);
    writeFileSync(join(folder, 'hosts'), `127.0.0.1 localhost ${directoryHost}\n${hosts.join('')}`);
    writeFileSync(join(folder, 'resolv.conf'), 'nameserver 127.0.0.1\n');
    writeFileSync(join(folder, 'Caddyfile'), caddyfile(folder));
    const node = [process.execPath, '--test-timeout=240000', file];
    const env = { ...process.env, TEST_ACME_INSIDE: '1', NODE_TEST_CONTEXT: '', TEST_POSTGRES_URL: '' };
    const inside = spawn('unshare', [...enter, 'sh', '-c', script, 'sh', folder, ...node], { env });
    let output = '';
    for (const stream of [inside.stdout, inside.stderr]) stream.on('data', (chunk) => (output += chunk));
    const [code] = await once(inside, 'close');
    assert.equal(code, 0, output.slice(-20_000));
    assert.match(output, new RegExp(`^ℹ pass ${count}$`, 'm'));
  });
}
