import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';

import { toApi, tunnelName } from './api-view.ts';
import { changesOf } from './edited-request.ts';
import type { Exchange } from './exchange.ts';
import { InspectGuard } from './guard.ts';
import { detailPage, listPage, messagePage } from './page.ts';
import { script, style } from './page-files.ts';
import type { RecentExchanges } from './recent-exchanges.ts';
import { ReplayFault } from './replay.ts';
import type { ReplayChanges, Replays } from './replay.ts';
import { maskTargets } from './short-target.ts';

export interface InspectOptions {
  readonly recent: RecentExchanges;
  readonly replays: Replays;
  readonly target: string;
  /** Address of the endpoint as it is now; undefined while none is known. */
  readonly address: () => string | undefined;
}

/** Most bytes of a form, or of a call. */
const maxSent = 512 * 1024;
const mostConnections = 32;
const usualLimit = 50;
const security =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";
const alwaysHeaders: Readonly<Record<string, string>> = {
  'Content-Security-Policy': security,
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  // Without a referrer, browsers send forms of the page itself as those of nobody.
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Cache-Control': 'no-store',
};

interface Answer {
  readonly status: number;
  readonly type?: string;
  readonly body?: string;
  readonly location?: string;
}

class TooLong extends Error {}

/** Serves the page of what passes, and a small API for programs, to this machine alone. */
export function createInspectServer(options: InspectOptions): Server {
  const guard = new InspectGuard();
  const inspection = new Inspection(options, guard);
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 10_000 }, (request, response) => {
    request.on('error', () => {});
    const refusal = guard.refusal(request);
    if (refusal !== undefined) {
      send(response, html(403, messagePage('Not for others', refusal)));
      return;
    }
    inspection.answer(request).then(
      (answer) => {
        send(response, answer);
      },
      (error: unknown) => {
        send(response, toFault(error, request.url ?? ''));
      },
    );
  });
  server.maxConnections = mostConnections;
  return server.on('clientError', (_, socket) => socket.destroy());
}

class Inspection {
  readonly #options: InspectOptions;
  readonly #guard: InspectGuard;

  constructor(options: InspectOptions, guard: InspectGuard) {
    this.#options = options;
    this.#guard = guard;
  }

  async answer(request: IncomingMessage): Promise<Answer> {
    const { method = 'GET' } = request;
    const url = new URL(`http://localhost${request.url?.startsWith('/') === true ? request.url : '/'}`);
    if (url.pathname.startsWith('/api/')) return this.#api(method, url, request);
    if (method === 'POST') return this.#form(url, request);
    if (method !== 'GET' && method !== 'HEAD')
      return html(405, messagePage('Not possible', `${method} is not possible here.`));
    if (url.pathname === '/style.css') return { status: 200, type: 'text/css; charset=utf-8', body: style };
    if (url.pathname === '/script.js') return { status: 200, type: 'text/javascript; charset=utf-8', body: script };
    return this.#page(url);
  }

  get #facts() {
    return { address: this.#options.address(), target: this.#options.target, csrf: this.#guard.csrf };
  }

  async #page({ pathname, searchParams }: URL): Promise<Answer> {
    const { recent } = this.#options;
    if (pathname === '/' || pathname === '/inspect/http') {
      const { all } = recent;
      await maskTargets(all);
      return html(200, listPage(all, recent.gaveUp, searchParams.get('find') ?? '', this.#facts));
    }
    const exchange = this.#find(pathname, '/requests/');
    const isEditing = searchParams.get('edit') !== null;
    return exchange === undefined
      ? notFound
      : html(200, await detailPage(exchange, this.#facts, { isEditing, fault: undefined }));
  }

  async #form({ pathname }: URL, request: IncomingMessage): Promise<Answer> {
    const form = new URLSearchParams(await read(request));
    if (!this.#guard.isOurs(form.get('csrf') ?? ''))
      return html(
        403,
        messagePage('Reload the page', 'This form is of an agent that has ended. Go back, reload, and try again.'),
      );
    if (pathname === '/clear') {
      this.#options.recent.clear();
      return { status: 303, location: '/' };
    }
    const exchange = pathname.endsWith('/replay')
      ? this.#find(pathname.slice(0, -'/replay'.length), '/requests/')
      : undefined;
    if (exchange === undefined) return notFound;
    try {
      const sent = await this.#options.replays.send(exchange, await changesOf(exchange, form));
      return { status: 303, location: `/requests/${sent.id}` };
    } catch (error) {
      if (!(error instanceof ReplayFault)) throw error;
      const isEditing = form.get('edited') !== null;
      return html(409, await detailPage(exchange, this.#facts, { isEditing, fault: error.message }));
    }
  }

  async #api(method: string, { pathname, searchParams }: URL, request: IncomingMessage): Promise<Answer> {
    const { recent } = this.#options;
    const path = '/api/requests/http';
    if (pathname === '/api/tunnels' && method === 'GET')
      return json(200, { tunnels: [this.#tunnel()], uri: '/api/tunnels' });
    if (pathname === path && method === 'GET')
      return json(200, { uri: path, requests: await this.#list(searchParams) });
    if (pathname === path && method === 'POST') return this.#replay(request);
    if (pathname === path && method === 'DELETE') {
      recent.clear();
      return { status: 204 };
    }
    const exchange = this.#find(pathname, `${path}/`);
    return exchange !== undefined && method === 'GET'
      ? json(200, await toApi(exchange))
      : fault(404, 'Nothing is here.');
  }

  async #list(parameters: URLSearchParams): Promise<readonly object[]> {
    const limit = Number(parameters.get('limit') ?? usualLimit);
    const listed: object[] = [];
    for (const exchange of this.#options.recent.all.slice(0, limit >= 0 ? limit : usualLimit)) {
      listed.push(await toApi(exchange));
    }
    return listed;
  }

  async #replay(request: IncomingMessage): Promise<Answer> {
    // Pages of others can send forms and plain text without being asked, but no JSON.
    if (!/^application\/json\b/i.test(request.headers['content-type'] ?? ''))
      return fault(415, 'Send JSON, with Content-Type: application/json.');
    const asked = readCall(await read(request));
    const exchange = this.#options.recent.find(asked.id);
    if (exchange === undefined) return fault(404, 'There is no request of this id, or it is not kept any more.');
    await this.#options.replays.send(exchange, asked.changes);
    return { status: 204 };
  }

  #tunnel(): object {
    const { address, target } = this.#options;
    const url = address() ?? '';
    return {
      name: tunnelName,
      uri: `/api/tunnels/${tunnelName}`,
      public_url: url,
      proto: url.split(':', 1)[0],
      config: { addr: target, inspect: true },
    };
  }

  #find(pathname: string, before: string): Exchange | undefined {
    return pathname.startsWith(before) ? this.#options.recent.find(pathname.slice(before.length)) : undefined;
  }
}

/** Reads a call that replays a request: its `id`, and `method`, `uri`, `headers` (lists of texts by name) and `body` where they change. */
function readCall(text: string): { readonly id: string; readonly changes: ReplayChanges } {
  let call: unknown;
  try {
    call = JSON.parse(text);
  } catch {
    throw new ReplayFault('The body is no JSON.');
  }
  if (typeof call !== 'object' || call === null) throw new ReplayFault('The body is no object.');
  const fields = new Map<string, unknown>(Object.entries(call));
  const asText = (name: string): string | undefined => {
    const value = fields.get(name);
    if (value === undefined || typeof value === 'string') return value;
    throw new ReplayFault(`"${name}" is a text.`);
  };
  const body = asText('body');
  return {
    id: asText('id') ?? '',
    changes: {
      method: asText('method'),
      target: asText('uri'),
      headers: readLists(fields.get('headers')),
      body: body === undefined ? undefined : Buffer.from(body),
    },
  };
}

function readLists(given: unknown): readonly string[] | undefined {
  if (given === undefined) return undefined;
  if (typeof given !== 'object' || given === null) throw new ReplayFault('"headers" is an object of lists.');
  return Object.entries(given).flatMap(([name, values]) => {
    const list: readonly unknown[] = Array.isArray(values) ? values : [values];
    return list.flatMap((value) => {
      if (typeof value !== 'string') throw new ReplayFault(`The values of ${name} are texts.`);
      return [name, value];
    });
  });
}

const notFound = html(
  404,
  messagePage('Not here', 'There is no such request, or it is not kept any more: only the last ones are.'),
);

function html(status: number, body: string): Answer {
  return { status, type: 'text/html; charset=utf-8', body };
}

function json(status: number, value: object): Answer {
  return { status, type: 'application/json; charset=utf-8', body: JSON.stringify(value) };
}

/** The form of faults of the API. */
function fault(status: number, message: string): Answer {
  return json(status, { status_code: status, msg: message });
}

function toFault(error: unknown, url: string): Answer {
  const isApi = url.startsWith('/api/');
  if (error instanceof TooLong)
    return isApi ? fault(413, 'The body is too long.') : html(413, messagePage('Too long', 'The form is too long.'));
  if (error instanceof ReplayFault) return fault(409, error.message);
  return isApi ? fault(400, 'This cannot be read.') : html(400, messagePage('Not possible', 'This cannot be read.'));
}

function send(response: ServerResponse, { status, type, body = '', location }: Answer): void {
  if (response.headersSent || response.destroyed) return;
  const headers = {
    ...alwaysHeaders,
    ...(type !== undefined && { 'Content-Type': type }),
    ...(location !== undefined && { Location: location }),
  };
  response.writeHead(status, headers).end(body);
}

async function read(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of request) {
    // A request has no encoding: its pieces are buffers.
    const part = piece as Buffer;
    bytes += part.length;
    if (bytes > maxSent) throw new TooLong();
    pieces.push(part);
  }
  return Buffer.concat(pieces).toString();
}
