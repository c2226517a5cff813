import { createServer } from 'node:http';

/** `node bare-http.ts PORT BODY`: answers every request with one fixed text: the upper bound of Node's HTTP server. */
const [, , port, body = ''] = process.argv;
const headers = { 'Content-Type': 'application/json; charset=utf-8', 'Content-Length': Buffer.byteLength(body) };

createServer((_request, response) => {
  response.writeHead(200, headers).end(body);
}).listen(Number(port), '127.0.0.1');
