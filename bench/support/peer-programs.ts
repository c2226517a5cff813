import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Listening } from './bare-servers.ts';
import { serverCores } from './cores.ts';
import { freePort, Process } from './process.ts';
import { scratchFolder } from './scratch.ts';

export interface PeerCommand {
  readonly command: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** Starts a program on a free port, which is passed to the function that writes its configuration. */
export async function startProgram(
  configure: (port: number) => Promise<PeerCommand>,
  cores = serverCores,
): Promise<Listening> {
  const port = await freePort();
  const { command, environment = {} } = await configure(port);
  const program = new Process(command, { cores, environment });
  await program.untilListening(port);
  return { process: program, port, [Symbol.asyncDispose]: () => program[Symbol.asyncDispose]() };
}

/** Path of the dynamic module for `stream` on Debian; other builds of nginx include it. */
const streamModule = '/usr/lib/nginx/modules/ngx_stream_module.so';

/** Configures nginx; `blocks` is its `http` or `stream` part. */
export async function nginxCommand(
  blocks: string,
  workers = 1,
): Promise<PeerCommand & { readonly configFile: string }> {
  const folder = await newFolder('nginx');
  const configFile = join(folder, 'nginx.conf');
  writeFileSync(configFile, nginxConfig(folder, blocks, workers));
  return { command: ['nginx', '-p', folder, '-c', configFile], configFile };
}

export function nginxConfig(folder: string, blocks: string, workers = 1): string {
  const stream = /\bstream \{/.test(blocks) && existsSync(streamModule) ? `load_module ${streamModule};` : '';
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  return `${stream} ${user}
    daemon off; worker_processes ${workers}; pid ${folder}/nginx.pid; error_log stderr crit;
    events { worker_connections 8192; }
    ${blocks.replace(/http \{/, `http { ${temporaryPaths(folder)}`)}`;
}

function temporaryPaths(folder: string): string {
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return kinds.map((kind) => `${kind}_temp_path ${folder}/${kind};`).join(' ');
}

/** Configures HAProxy with one thread. */
export async function haproxyCommand(sections: string): Promise<PeerCommand> {
  const folder = await newFolder('haproxy');
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(
    file,
    `global
  nbthread 1
  maxconn 4000
defaults
  timeout connect 10s
  timeout client 300s
  timeout server 300s
${sections}
`,
  );
  return { command: ['haproxy', '-f', file, '-db'] };
}

/** Configures Caddy; `apps` is that part of its JSON configuration. */
export async function caddyCommand(adminPort: number, apps: object, cores = 1): Promise<PeerCommand> {
  const folder = await newFolder('caddy');
  const file = join(folder, 'caddy.json');
  writeFileSync(
    file,
    JSON.stringify({
      admin: { listen: `127.0.0.1:${adminPort}` },
      logging: { logs: { default: { level: 'ERROR' } } },
      apps,
    }),
  );
  const environment = { GOMAXPROCS: String(cores), HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  return { command: ['caddy', 'run', '--config', file], environment };
}

let folders = 0;

async function newFolder(name: string): Promise<string> {
  const folder = join(await scratchFolder(), `${name}-${(folders += 1)}`);
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** Writes a file that peers read, such as a list of addresses. */
export async function writeScratch(name: string, text: string): Promise<string> {
  const file = join(await newFolder('files'), name);
  writeFileSync(file, text);
  return file;
}
