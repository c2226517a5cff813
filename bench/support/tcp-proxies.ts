import type { Listening } from './bare-servers.ts';
import { allowedCidrs } from './https-proxies.ts';
import { haproxyCommand, nginxCommand, startProgram, writeScratch } from './peer-programs.ts';

export async function startTcpHaproxy(upstreamPort: number): Promise<Listening> {
  const list = await writeScratch('allowed.list', allowedCidrs.join('\n'));
  return startProgram((port) =>
    haproxyCommand(`
frontend edge
  mode tcp
  bind 127.0.0.1:${port} backlog 4096
  tcp-request connection reject unless { src -f ${list} }
  default_backend upstream
backend upstream
  mode tcp
  server one 127.0.0.1:${upstreamPort}`),
  );
}

/** Starts nginx. It cannot refuse by a table of addresses, so other sources are sent to a port without a listener. */
export async function startTcpNginx(upstreamPort: number): Promise<Listening> {
  const places = allowedCidrs.map((cidr) => `${cidr} 127.0.0.1:${upstreamPort};`).join(' ');
  return startProgram((port) =>
    nginxCommand(`
      stream {
        access_log off;
        geo $target { default 127.0.0.1:1; ${places} }
        server { listen 127.0.0.1:${port} backlog=4096; proxy_pass $target; tcp_nodelay on; }
      }`),
  );
}
