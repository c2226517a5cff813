import { cidrNumber } from './addresses.ts';
import type { Listening } from './bare-servers.ts';
import { certificateFiles } from './certificate.ts';
import { allCores, serverCores } from './cores.ts';
import { headerChanges } from './fill.ts';
import { caddyCommand, haproxyCommand, nginxCommand, startProgram, writeScratch } from './peer-programs.ts';
import { freePort } from './process.ts';

/** Source addresses that every proxy admits. */
export const allowedCidrs = ['127.0.0.0/8', ...Array.from({ length: 999 }, (_, at) => cidrNumber(at + 1))];

const added = Object.entries(headerChanges.add);

/** `workers`: how many share its ports; several run on all cores. */
export async function startNginx(upstreamPort: number, workers = 0): Promise<Listening> {
  const { certificate, key } = await certificateFiles();
  const configure = (port: number) =>
    nginxCommand(
      `
      http {
        access_log off;
        keepalive_requests 1000000000;
        geo $allowed { default 0; ${allowedCidrs.map((cidr) => `${cidr} 1;`).join(' ')} }
        upstream backend { server 127.0.0.1:${upstreamPort}; keepalive 64; keepalive_requests 1000000000; }
        server {
          listen 127.0.0.1:${port} ssl http2 backlog=4096;
          server_name localhost;
          ssl_certificate ${certificate};
          ssl_certificate_key ${key};
          ssl_protocols TLSv1.2 TLSv1.3;
          location / {
            if ($allowed = 0) { return 403; }
            proxy_pass http://backend;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
            proxy_set_header Host $http_host;
            proxy_set_header X-Forwarded-For $remote_addr;
            proxy_set_header X-Forwarded-Proto https;
            proxy_set_header X-Forwarded-Host $http_host;
            ${added.map(([name, value]) => `proxy_set_header ${name} ${value};`).join('\n')}
            ${headerChanges.remove.map((name) => `proxy_set_header ${name} "";`).join('\n')}
          }
        }
      }`,
      workers || 1,
    );
  return startProgram(configure, workers === 0 ? serverCores : allCores);
}

export async function startHaproxy(upstreamPort: number): Promise<Listening> {
  const { both } = await certificateFiles();
  const list = await writeScratch('allowed.list', allowedCidrs.join('\n'));
  return startProgram((port) =>
    haproxyCommand(`
frontend edge
  mode http
  bind 127.0.0.1:${port} ssl crt ${both} alpn h2,http/1.1
  http-request deny unless { src -f ${list} }
  option forwardfor
  http-request set-header X-Forwarded-Proto https
  http-request set-header X-Forwarded-Host %[req.hdr(host)]
${headerChanges.remove.map((name) => `  http-request del-header ${name}`).join('\n')}
${added.map(([name, value]) => `  http-request add-header ${name} ${value}`).join('\n')}
  default_backend upstream
backend upstream
  mode http
  http-reuse always
  server one 127.0.0.1:${upstreamPort}`),
  );
}

export async function startCaddy(upstreamPort: number, workers = 0): Promise<Listening> {
  const { certificate, key } = await certificateFiles();
  const adminPort = await freePort();
  const configure = (port: number) =>
    caddyCommand(
      adminPort,
      {
        tls: { certificates: { load_files: [{ certificate, key }] } },
        http: {
          servers: {
            edge: {
              listen: [`127.0.0.1:${port}`],
              automatic_https: { disable: true },
              tls_connection_policies: [{}],
              routes: [
                {
                  match: [{ host: ['localhost'], remote_ip: { ranges: allowedCidrs } }],
                  handle: [
                    {
                      handler: 'headers',
                      request: {
                        delete: headerChanges.remove,
                        add: Object.fromEntries(added.map(([name, value]) => [name, [value]])),
                      },
                    },
                    { handler: 'reverse_proxy', upstreams: [{ dial: `127.0.0.1:${upstreamPort}` }] },
                  ],
                  terminal: true,
                },
                { handle: [{ handler: 'static_response', status_code: 403 }] },
              ],
            },
          },
        },
      },
      workers || 1,
    );
  return startProgram(configure, workers === 0 ? serverCores : allCores);
}
