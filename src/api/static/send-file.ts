import type { FastifyReply, FastifyRequest } from 'fastify';

import { matchesEtag } from '../http/etag.ts';
import { chooseForm } from './file-set.ts';
import type { ServedFile } from './file-set.ts';

/** Sends a file in the smallest form that the client takes, or 304 if it has that form already. */
export function sendFile(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  file: ServedFile,
  given: Readonly<Record<string, string>>,
): FastifyReply {
  const { etag, encoding, bytes } = chooseForm(file, headers['accept-encoding']);
  void reply.headers({ ...given, ETag: etag, Vary: 'Accept-Encoding' });
  if (matchesEtag(headers['if-none-match'], etag)) return reply.code(304).send();
  if (encoding !== undefined) void reply.header('Content-Encoding', encoding);
  return reply.type(file.type).send(bytes);
}

/** True for a browser that opens a page. */
export function wantsHtml({ headers: { accept = '' } }: FastifyRequest): boolean {
  return accept.includes('text/html');
}

/** The path below which a proxy in front serves the whole; empty where it is the root. */
export function pathOfUrl(url: string | undefined): string {
  return url === undefined ? '' : new URL(url).pathname.replace(/\/$/, '');
}
