import { certificateFiles } from '../certificate.ts';
import { Gatehouse } from '../gatehouse.ts';
import { caddyCommand, nginxCommand, startProgram } from '../peer-programs.ts';
import { freePort } from '../process.ts';
import type { Process } from '../process.ts';
import { scratchFolder } from '../scratch.ts';
import { agentAccess } from '../tunnel.ts';
import type { VisitOrder } from './messages.ts';
import { TurnFile } from './turn-file.ts';

/** Names of the edges that are attacked, and of the neighbour's. */
export const hosts = {
  plain: 'plain.example.com',
  redirect: 'redirect.example.com',
  converter: 'converter.example.com',
  compressed: 'compressed.example.com',
  terminated: 'terminated.example.com',
  neighbour: 'neighbour.example.com',
} as const;

/** A proxy with the same edges as the others, started for one row. */
export interface Target extends AsyncDisposable {
  readonly process: Process;
  readonly ports: Readonly<Record<'https' | 'tls' | 'tcp' | 'api' | 'agents', number>>;
  readonly agent?: { readonly ca: string; readonly token: string };
  /** Headers of calls to the API. */
  readonly headers: Readonly<Record<string, string>>;
  readonly visits: Omit<VisitOrder, 'seconds'>;
  /** Milliseconds of processor time of the longest turn of the event loop since it was asked last. */
  readonly longestTurnMs?: () => Promise<number>;
}

export interface Upstreams {
  readonly attacked: number;
  readonly neighbour: number;
}

export interface TargetOptions {
  /** Setting `workers` of Gatehouse. */
  readonly workers: string;
  /** Folder for a profile of the processor time of Gatehouse. */
  readonly profile: string | undefined;
}

type StartTarget = (upstreams: Upstreams, options: TargetOptions) => Promise<Target>;

export const targets = {
  Gatehouse: startGatehouse,
  nginx: startNginx,
  Caddy: startCaddy,
} satisfies Readonly<Record<string, StartTarget>>;

export type TargetName = keyof typeof targets;

async function startGatehouse(upstreams: Upstreams, { workers, profile }: TargetOptions): Promise<Target> {
  const [tcp, agents] = [await freePort(), await freePort()];
  const turns = new TurnFile(await scratchFolder());
  const gatehouse = await Gatehouse.start({
    settings: { workers, 'agent-listen': `127.0.0.1:${agents}`, 'tcp-ports': '1024-65535' },
    nodeArguments: [
      ...(workers === 'off' ? turns.nodeArguments : []),
      ...(profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${profile}`]),
    ],
    environment: turns.environment,
  });
  await makeEdges(gatehouse, upstreams, tcp);
  const { apiPort, httpsPort, headers } = gatehouse;
  const path = `/ip_policies/${await gatehouse.create('/ip_policies', {})}`;
  return {
    process: gatehouse.process,
    ports: { https: httpsPort, tls: httpsPort, tcp, api: apiPort, agents },
    agent: await agentAccess(gatehouse),
    headers,
    // The turns of workers are their own.
    ...(workers === 'off' ? { longestTurnMs: () => turns.read(gatehouse.process) } : {}),
    visits: { edge: { port: httpsPort, host: hosts.neighbour }, api: { port: apiPort, path, headers } },
    [Symbol.asyncDispose]: () => gatehouse[Symbol.asyncDispose](),
  };
}

async function makeEdges(gatehouse: Gatehouse, upstreams: Upstreams, tcpPort: number): Promise<void> {
  const newBackend = (port: number) => gatehouse.create('/backends/static', { address: `127.0.0.1:${port}` });
  const backend = { backend: { backend_id: await newBackend(upstreams.attacked) } };
  const edges = {
    [hosts.plain]: backend,
    [hosts.redirect]: { redirect: { to: 'https://example.com/', status_code: 302 } },
    [hosts.converter]: { ...backend, websocket_tcp_converter: {} },
    [hosts.compressed]: { ...backend, compression: {} },
    [hosts.neighbour]: { backend: { backend_id: await newBackend(upstreams.neighbour) } },
  };
  for (const [host, modules] of Object.entries(edges)) {
    const edge = await gatehouse.create('/edges/https', { hostports: [`${host}:443`] });
    await gatehouse.create(`/edges/https/${edge}/routes`, { match_type: 'path_prefix', match: '/', ...modules });
  }
  const tls = { hostports: [`${hosts.terminated}:443`], ...backend, tls_termination: { terminate_at: 'edge' } };
  await gatehouse.create('/edges/tls', tls);
  await gatehouse.create('/edges/tcp', { hostports: [`localhost:${tcpPort}`], ...backend });
}

/** Without buffers for requests and answers, so that it passes on what it gets as Gatehouse does. */
async function startNginx({ attacked, neighbour }: Upstreams): Promise<Target> {
  const { certificate, key } = await certificateFiles();
  const [tls, tcp] = [await freePort(), await freePort()];
  const keys = `ssl_protocols TLSv1.2 TLSv1.3; ssl_certificate ${certificate}; ssl_certificate_key ${key};`;
  const passOn =
    'proxy_set_header Host $http_host; proxy_http_version 1.1; proxy_request_buffering off; proxy_buffering off;';
  const server = (port: number, name: string, location: string) =>
    `server { listen 127.0.0.1:${port} ssl http2; server_name ${name}; ${keys} client_max_body_size 0;
       large_client_header_buffers 4 64k; keepalive_requests 1000000000; location / { ${location} } }`;
  const started = await startProgram((port) =>
    nginxCommand(`
      http {
        access_log off;
        map $http_upgrade $connection_upgrade { default upgrade; '' ''; }
        upstream neighbour { server 127.0.0.1:${neighbour}; keepalive 64; }
        upstream attacked { server 127.0.0.1:${attacked}; keepalive 64; }
        ${server(port, hosts.neighbour, `proxy_pass http://neighbour; ${passOn} proxy_set_header Connection "";`)}
        ${server(port, hosts.redirect, 'return 302 https://example.com/;')}
        ${[hosts.plain, hosts.compressed]
          .map((host) =>
            server(
              port,
              host,
              `proxy_pass http://attacked; ${passOn} proxy_set_header Upgrade $http_upgrade;
               proxy_set_header Connection $connection_upgrade; gzip ${host === hosts.compressed ? 'on' : 'off'}; gzip_types *;`,
            ),
          )
          .join('\n')}
      }
      stream {
        server { listen 127.0.0.1:${tcp}; proxy_pass 127.0.0.1:${attacked}; tcp_nodelay on; }
        server { listen 127.0.0.1:${tls} ssl; ${keys} proxy_pass 127.0.0.1:${attacked}; tcp_nodelay on; }
      }`),
  );
  return peer(started, { https: started.port, tls, tcp, api: 0, agents: 0 });
}

async function startCaddy({ attacked, neighbour }: Upstreams): Promise<Target> {
  // Without one for the name that a client asks for, there is no handshake.
  const files = await Promise.all(Object.values(hosts).map((host) => certificateFiles(host)));
  const adminPort = await freePort();
  const passTo = (port: number) => ({
    handler: 'reverse_proxy',
    flush_interval: -1,
    upstreams: [{ dial: `127.0.0.1:${port}` }],
  });
  const redirect = { handler: 'static_response', status_code: 302, headers: { Location: ['https://example.com/'] } };
  const encode = { handler: 'encode', encodings: { gzip: {} } };
  const routes = [
    { match: [{ host: [hosts.neighbour] }], handle: [passTo(neighbour)] },
    { match: [{ host: [hosts.redirect] }], handle: [redirect] },
    { match: [{ host: [hosts.plain] }], handle: [passTo(attacked)] },
    { match: [{ host: [hosts.compressed] }], handle: [encode, passTo(attacked)] },
  ];
  const started = await startProgram((port) =>
    caddyCommand(adminPort, {
      tls: { certificates: { load_files: files.map(({ certificate, key }) => ({ certificate, key })) } },
      http: {
        servers: {
          edge: {
            listen: [`127.0.0.1:${port}`],
            automatic_https: { disable: true },
            tls_connection_policies: [{}],
            routes,
          },
        },
      },
    }),
  );
  return peer(started, { https: started.port, tls: 0, tcp: 0, api: 0, agents: 0 });
}

function peer(started: { readonly process: Process; readonly port: number }, ports: Target['ports']): Target {
  return {
    process: started.process,
    ports,
    headers: {},
    visits: { edge: { port: started.port, host: hosts.neighbour } },
    [Symbol.asyncDispose]: () => started.process[Symbol.asyncDispose](),
  };
}
