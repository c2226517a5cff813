import type { AttackOrder } from './messages.ts';
import { hosts } from './targets.ts';
import type { Target, TargetName } from './targets.ts';

/** One entrance, and how its smallest pieces are sent. */
export interface Row {
  readonly name: string;
  readonly summary: string;
  /** Peers that have this entrance. */
  readonly peers: readonly TargetName[];
  /** True where the upstream sends the small pieces. */
  readonly byUpstream?: true;
  /** Part of an order that does not depend on the number of connections. */
  readonly order: (target: Target) => Omit<AttackOrder, 'connections' | 'bytesPerSecond' | 'seconds'>;
  /** Bytes a second on the wire where small pieces cost those who send them too much. */
  readonly bytesPerSecond?: number;
}

type Order = Row['order'];

const both = ['nginx', 'Caddy'] as const;
const h1 = { alpn: 'http/1.1', pieces: 'whole' } as const;
const h1Records = { alpn: 'http/1.1', pieces: 'records' } as const;
/** Segments cost a call of the system each, so that more would take the core of those who measure. */
const segmentsPerSecond = 10_000;

function edge(
  attack: AttackOrder['attack'],
  way: Pick<AttackOrder, 'alpn' | 'pieces'>,
  host = hosts.plain as string,
): Order {
  return ({ ports }) => ({ attack, ...way, port: ports.https, target: { host, path: '/', headers: '' } });
}

function tinyAnswers(attack: AttackOrder['attack'], host: string, headers = ''): Order {
  return ({ ports }) => ({ attack, ...h1, port: ports.https, target: { host, path: '/tiny', headers } });
}

function api(attack: AttackOrder['attack'], path: string, headers: (target: Target) => string = () => ''): Order {
  return (target) => ({
    attack,
    pieces: 'whole',
    port: target.ports.api,
    target: { host: 'localhost', path, headers: headers(target) },
  });
}

function headerLines(headers: Readonly<Record<string, string>>): string {
  return Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
}

export const rows: readonly Row[] = [
  { name: 'http1-chunks', summary: 'HTTP/1 body in chunks of one byte', peers: both, order: edge('http1-chunks', h1) },
  {
    name: 'http1-records',
    summary: 'HTTP/1 body with a length, each byte in a TLS record',
    peers: both,
    order: edge('http1-body', h1Records),
  },
  {
    name: 'http1-chunk-records',
    summary: 'HTTP/1 body in chunks of one byte, each byte in a TLS record',
    peers: both,
    order: edge('http1-chunks', h1Records),
  },
  {
    name: 'http2-frames',
    summary: 'HTTP/2 body in DATA frames of one byte',
    peers: both,
    order: edge('http2-data', { alpn: 'h2', pieces: 'whole' }),
  },
  {
    name: 'http2-records',
    summary: 'HTTP/2 body in DATA frames of 1 kB, each byte in a TLS record',
    peers: both,
    order: edge('http2-body', { alpn: 'h2', pieces: 'records' }),
  },
  {
    name: 'http2-redirects',
    summary: 'HTTP/2 requests of 13 bytes, answered by a redirect',
    peers: both,
    order: edge('http2-requests', { alpn: 'h2', pieces: 'whole' }, hosts.redirect),
  },
  {
    name: 'http2-requests',
    summary: 'the same, answered by an upstream',
    peers: both,
    order: edge('http2-requests', { alpn: 'h2', pieces: 'whole' }),
  },
  {
    name: 'websocket-frames',
    summary: 'WebSocket messages of one byte',
    peers: both,
    order: edge('websocket-frames', h1),
  },
  {
    name: 'websocket-records',
    summary: 'WebSocket, each byte in a TLS record',
    peers: both,
    order: edge('websocket-bytes', h1Records),
  },
  {
    name: 'converter-frames',
    summary: 'WebSocket messages of one byte, converted to TCP',
    peers: [],
    order: edge('websocket-frames', h1, hosts.converter),
  },
  {
    name: 'converter-records',
    summary: 'the same, each byte in a TLS record',
    peers: [],
    order: edge('websocket-bytes', h1Records, hosts.converter),
  },
  {
    name: 'tls-records',
    summary: 'TLS edge that terminates, each byte in a TLS record',
    peers: ['nginx'],
    order: ({ ports }) => ({
      attack: 'few-bytes',
      ...h1Records,
      port: ports.tls,
      target: { host: hosts.terminated, path: '', headers: '' },
    }),
  },
  {
    name: 'tcp-segments',
    summary: 'TCP edge, each byte in a segment',
    peers: ['nginx'],
    bytesPerSecond: segmentsPerSecond,
    order: ({ ports }) => ({
      attack: 'bytes',
      pieces: 'segments',
      port: ports.tcp,
      target: { host: '', path: '', headers: '' },
    }),
  },
  {
    name: 'agent-frames',
    summary: 'agents that answer visitors in frames of one byte',
    peers: [],
    order: ({ ports, agent }) => ({
      attack: 'agent-frames',
      pieces: 'whole',
      port: ports.agents,
      target: { host: '', path: '', headers: '' },
      ...(agent === undefined ? {} : { agent }),
    }),
  },
  {
    name: 'blank-lines',
    summary: 'blank lines after a request, each byte in a TLS record',
    peers: both,
    order: edge('blank-lines', h1Records),
  },
  {
    name: 'long-heads',
    summary: 'request heads of 30 kB, each byte in a TLS record',
    peers: both,
    order: edge('long-heads', h1Records),
  },
  {
    name: 'tiny-answers',
    summary: 'an upstream that answers in chunks of one byte',
    peers: both,
    byUpstream: true,
    order: tinyAnswers('reader', hosts.plain),
  },
  {
    name: 'compressed-answers',
    summary: 'the same, compressed',
    peers: both,
    byUpstream: true,
    order: tinyAnswers('reader', hosts.compressed, 'Accept-Encoding: gzip\r\n'),
  },
  {
    name: 'both-ways',
    summary: 'body and answer in chunks of one byte',
    peers: both,
    order: tinyAnswers('http1-chunks', hosts.plain),
  },
  {
    name: 'api-unknown',
    summary: 'API: unknown paths, one at a time',
    peers: [],
    order: api('one-at-a-time', `/edges/${'x'.repeat(73)}`),
  },
  { name: 'api-pipeline', summary: 'API: a pipeline of `GET /x`', peers: [], order: api('pipeline', '/x') },
  {
    name: 'api-unauthorized',
    summary: 'API: a pipeline of calls with a wrong token',
    peers: [],
    order: api('pipeline', '/api_keys', () => 'Authorization: Bearer x\r\nService-Version: 2\r\n'),
  },
  { name: 'api-healthz', summary: 'API: a pipeline of `GET /healthz`', peers: [], order: api('pipeline', '/healthz') },
  {
    name: 'api-chunks',
    summary: 'API: a body in chunks of one byte, with a token',
    peers: [],
    order: api('http1-chunks', '/ip_policies', ({ headers }) =>
      headerLines({ ...headers, 'Content-Type': 'application/json' }),
    ),
  },
];
