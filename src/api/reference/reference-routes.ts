import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';

import type { FastifyInstance } from 'fastify';

import { setCommonHeaders } from '../http/common-headers.ts';
import { notFound } from '../http/not-found.ts';
import type { ApiOptions } from '../options.ts';
import { toServedFile } from '../static/file-set.ts';
import type { FileSet } from '../static/file-set.ts';
import { securityHeaders } from '../static/security-headers.ts';
import { pathOfUrl, sendFile, wantsHtml } from '../static/send-file.ts';
import { page, script, style } from './reference-page.ts';

const prefix = '/docs/';
const headers = {
  ...securityHeaders,
  'Cache-Control': 'no-cache',
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "form-action 'none'; frame-ancestors 'none'; base-uri 'none'",
};
const require = createRequire(import.meta.url);
/** Files of the renderer that the page loads. */
const rendererFiles = ['swagger-ui.css', 'swagger-ui-bundle.js'] as const;

/** The API reference for people, over the OpenAPI document. It is the same for everybody. */
export async function registerReferenceRoutes(scope: FastifyInstance, options: ApiOptions): Promise<void> {
  let loading: Promise<FileSet> | undefined;
  scope.addHook('onRequest', (request, reply, done) => {
    done(setCommonHeaders(request, reply, options.vendor));
  });
  scope.get(prefix.slice(0, -1), (request, reply) => {
    if (!wantsHtml(request)) throw notFound(request);
    return reply.header('Vary', 'Accept').redirect(`${pathOfUrl(options.publicUrl)}${prefix}`, 302);
  });
  scope.get(`${prefix}*`, async (request, reply) => {
    const { '*': path } = request.params as { readonly '*': string };
    if (!isInstalled()) throw notFound(request);
    const files = await (loading ??= loadFiles());
    const file = files.get(path);
    if (file === undefined) throw notFound(request);
    return sendFile(request, reply, file, headers);
  });
}

/** False in a copy without the packages, one of which is the renderer. */
function isInstalled(): boolean {
  try {
    return require.resolve('swagger-ui-dist/package.json') !== '';
  } catch {
    return false;
  }
}

async function loadFiles(): Promise<FileSet> {
  const renderer = rendererFiles.map(async (name) => {
    const path = require.resolve(`swagger-ui-dist/${name}`);
    return [name, await readFile(path)] as const;
  });
  const all = [
    ['', Buffer.from(page), '.html'],
    ['reference.css', Buffer.from(style)],
    ['reference.js', Buffer.from(script)],
    ...(await Promise.all(renderer)),
  ] as const;
  return new Map(
    await Promise.all(
      all.map(async ([name, bytes, extension]) => [name, await toServedFile(extension ?? name, bytes)] as const),
    ),
  );
}
