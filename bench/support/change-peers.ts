import { writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

import type { Listening } from './bare-servers.ts';
import { edgeHost } from './fill.ts';
import { HttpConnection, formatRequest } from './http-connection.ts';
import { caddyCommand, nginxCommand, nginxConfig, startProgram } from './peer-programs.ts';
import { freePort } from './process.ts';

/** A proxy with many hosts, each with one route that adds a response header, whose value can be changed. */
export interface ChangeablePeer extends Listening {
  /** Sets the header of one host; resolves when the peer has answered, which may be before traffic sees it. */
  change(at: number, version: string): Promise<void>;
}

export async function startChangeableCaddy(count: number, upstreamPort: number): Promise<ChangeablePeer> {
  const adminPort = await freePort();
  const headers = (version: string) => ({ handler: 'headers', response: { set: { 'x-version': [version] } } });
  const routes = Array.from({ length: count }, (_, at) => ({
    match: [{ host: [edgeHost(at)] }],
    handle: [headers('0'), { handler: 'reverse_proxy', upstreams: [{ dial: `127.0.0.1:${upstreamPort}` }] }],
    terminal: true,
  }));
  const caddy = await startProgram((port) => {
    const edge = { listen: [`127.0.0.1:${port}`], automatic_https: { disable: true }, routes };
    return caddyCommand(adminPort, { http: { servers: { edge } } });
  });
  return {
    ...caddy,
    async change(at, version) {
      const path = `/config/apps/http/servers/edge/routes/${at}/handle/0`;
      const connection = await HttpConnection.open({ port: adminPort });
      const host = { Host: `127.0.0.1:${adminPort}`, 'Content-Type': 'application/json' };
      const { status, body } = await connection.send(
        formatRequest('PATCH', path, host, JSON.stringify(headers(version))),
      );
      connection.close();
      if (status !== 200) throw new Error(`Caddy answered ${status}: ${body}`);
    },
  };
}

export async function startChangeableNginx(count: number, upstreamPort: number): Promise<ChangeablePeer> {
  const versions = Array.from({ length: count }, () => '0');
  const blocks = (port: number) => `
    http {
      access_log off;
      server_names_hash_max_size 1048576;
      server_names_hash_bucket_size 128;
      upstream backend { server 127.0.0.1:${upstreamPort}; keepalive 64; }
      ${versions.map((version, at) => nginxServer(port, at, version)).join('\n')}
    }`;
  let configFile = '';
  const nginx = await startProgram(async (port) => {
    const command = await nginxCommand(blocks(port));
    ({ configFile } = command);
    return command;
  });
  return {
    ...nginx,
    async change(at, version) {
      versions[at] = version;
      writeFileSync(configFile, nginxConfig(dirname(configFile), blocks(nginx.port)));
      nginx.process.signal('SIGHUP');
    },
  };
}

function nginxServer(port: number, at: number, version: string): string {
  return `server {
    listen 127.0.0.1:${port}; server_name ${edgeHost(at)};
    location / { proxy_pass http://backend; proxy_http_version 1.1; proxy_set_header Connection ""; add_header x-version ${version}; }
  }`;
}
