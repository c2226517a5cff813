import assert from 'node:assert/strict';

import { sendBytes } from '../../contract/support/raw-http.ts';
import type { RawAnswer } from '../../contract/support/raw-http.ts';
import { Gatehouse } from '../../support/gatehouse.ts';
import { checkAnswer } from '../../support/openapi-check.ts';

interface WireAnswer extends RawAnswer {
  // oxlint-disable-next-line typescript/no-explicit-any -- tests assert the form of a body
  readonly body: any;
}

/** An official client, imitated byte for byte as it writes requests. */
interface ClientOnTheWire {
  readonly gatehouse: Gatehouse;
  readonly send: (method: string, target: string, body?: string) => Promise<WireAnswer>;
  /** Sends a POST and fails unless the response is 201. */
  create(target: string, body: string): Promise<{ readonly id: string; readonly uri: string }>;
}

type WriteHead = (token: string, method: string, body: string | undefined) => readonly string[];

/** Header names of the Go client are in lower case, and without a body it sends no header about one. */
export const goHead: WriteHead = (token, _method, body) => [
  'User-Agent: ngrok-api-go/8.0.0',
  `authorization: Bearer ${token}`,
  'ngrok-version: 2',
  'Accept-Encoding: gzip',
  ...(body === undefined ? [] : ['content-type: application/json', contentLength(body)]),
];

/** The Python client sends `Content-Length: 0` for an empty body where the method allows one. */
export const pythonHead: WriteHead = (token, method, body) => [
  'User-Agent: ngrok-api-python/0.17.0/3.12',
  'Accept-Encoding: gzip, deflate',
  'Accept: */*',
  `authorization: Bearer ${token}`,
  'ngrok-version: 2',
  ...(body === undefined
    ? method === 'GET'
      ? []
      : ['Content-Length: 0']
    : [contentLength(body), 'Content-Type: application/json']),
];

/** The TypeScript client sends a content type even without a body. */
export const typescriptHead: WriteHead = (token, method, body) => [
  'User-Agent: ngrok-api-typescript/0.10.0/v20.0.0',
  'Ngrok-Version: 2',
  'Content-Type: application/json',
  `Authorization: Bearer ${token}`,
  'Accept: */*',
  ...(body === undefined ? (method === 'POST' ? ['Content-Length: 0'] : []) : [contentLength(body)]),
  'Accept-Encoding: gzip,deflate',
];

export function clientOnTheWire(gatehouse: Gatehouse, writeHead: WriteHead): ClientOnTheWire {
  const { host } = new URL(gatehouse.url);
  const send = async (method: string, target: string, body?: string): Promise<WireAnswer> => {
    const head = [
      `${method} ${target} HTTP/1.1`,
      `Host: ${host}`,
      ...writeHead(gatehouse.token, method, body),
      'Connection: close',
    ];
    const answer = await sendBytes(gatehouse.url, `${head.join('\r\n')}\r\n\r\n${body ?? ''}`);
    assert.equal(answer.headers['connection'], 'close', 'a client would use the connection again');
    assert.match(String(answer.headers['ngrok-operation-id']), /^op_/);
    assert.equal(answer.headers['ngrok-operation-id'], answer.headers['gatehouse-operation-id']);
    const parsed: unknown = answer.text === '' ? undefined : JSON.parse(answer.text);
    checkAnswer(method, target.split('?', 1)[0] ?? '', { status: answer.status, body: parsed });
    return { ...answer, body: parsed };
  };
  return {
    gatehouse,
    send,
    async create(target, body) {
      const answer = await send('POST', target, body);
      assert.equal(answer.status, 201, answer.text);
      return answer.body;
    },
  };
}

export function startWithVendor(databaseUrl: string): Promise<Gatehouse> {
  return Gatehouse.start(databaseUrl, { vendor: 'ngrok' });
}

/** Creates an HTTPS edge with one route. */
export async function makeRoute(client: ClientOnTheWire) {
  const edge = await client.create('/edges/https', '{}');
  const { id } = await client.create(`/edges/https/${edge.id}/routes`, '{"match_type":"path_prefix","match":"/a"}');
  return { edge, routeId: id, route: `/edges/https/${edge.id}/routes/${id}` };
}

/** Collects the ids of all entries, requesting each `next_page_uri` unchanged. */
export async function followLinks({ gatehouse, send }: ClientOnTheWire, first: string): Promise<readonly string[]> {
  const ids: string[] = [];
  let target: string | undefined = first;
  while (target !== undefined) {
    const { body } = await send('GET', target);
    const entries = Object.values(body).find((value) => Array.isArray(value));
    for (const { id } of entries ?? []) ids.push(id);
    assert.ok(body.next_page_uri === null || String(body.next_page_uri).startsWith(`${gatehouse.url}/`));
    target = body.next_page_uri?.slice(gatehouse.url.length);
  }
  return ids;
}

function contentLength(body: string): string {
  return `Content-Length: ${Buffer.byteLength(body)}`;
}
