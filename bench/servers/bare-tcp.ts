import { connect, createServer } from 'node:net';

/** `node bare-tcp.ts PORT UPSTREAM_PORT`: pipes each connection to the upstream: the upper bound of Node's sockets. */
const [, , port, upstreamPort] = process.argv;

createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
  const upstream = connect({ port: Number(upstreamPort), host: '127.0.0.1', allowHalfOpen: true, noDelay: true });
  client.pipe(upstream).pipe(client);
  client.on('error', () => upstream.destroy());
  upstream.on('error', () => client.destroy());
}).listen(Number(port), '127.0.0.1');
