import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';

/** `node bare-https.ts PORT CERTIFICATE KEY BODY`: answers by itself: the upper bound of Node's HTTPS server. */
const [, , port, certificate = '', key = '', body = ''] = process.argv;
const headers = { 'Content-Type': 'text/plain', 'Content-Length': Buffer.byteLength(body) };

createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, (_request, response) => {
  response.writeHead(200, headers).end(body);
}).listen(Number(port), '127.0.0.1');
