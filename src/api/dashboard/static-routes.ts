import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

import { UserError } from '../../errors/user-error.ts';
import { setCommonHeaders } from '../http/common-headers.ts';
import { notFound } from '../http/not-found.ts';
import type { ApiOptions } from '../options.ts';
import { securityHeaders } from '../static/security-headers.ts';
import { pathOfUrl, sendFile, wantsHtml } from '../static/send-file.ts';
import { DashboardFiles } from './dashboard-files.ts';
import { dashboardNotBuilt } from './errors.ts';

const prefix = '/dashboard/';
/** Folder of files whose names change with their content. */
const hashedFolder = 'assets/';
const contentPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
  "worker-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";
const htmlHeaders = { ...securityHeaders, 'Content-Security-Policy': contentPolicy };

/** The pages of the dashboard. They are the same for everybody and hold nothing of any account. */
export async function registerStaticRoutes(scope: FastifyInstance, options: ApiOptions): Promise<void> {
  const files = new DashboardFiles(options.dashboardFolder);
  scope.addHook('onRequest', (request, reply, done) => {
    done(setCommonHeaders(request, reply, options.vendor));
  });
  const start = (request: FastifyRequest, reply: FastifyReply) => {
    if (!wantsHtml(request)) throw notFound(request);
    return reply.header('Vary', 'Accept').redirect(`${pathOfUrl(options.publicUrl)}${prefix}`, 302);
  };
  scope.get('/', start);
  scope.get(prefix.slice(0, -1), start);
  scope.get(`${prefix}*`, async (request, reply) => {
    const { '*': path } = request.params as { readonly '*': string };
    const file = await files.find(path);
    if (!files.isBuilt) return sendNotBuilt(request, reply);
    if (file === undefined) throw notFound(request);
    return sendFile(request, reply, file, { ...htmlHeaders, 'Cache-Control': cacheOf(path) });
  });
}

function cacheOf(path: string): string {
  if (path.startsWith(hashedFolder)) return 'public, max-age=31536000, immutable';
  return path.includes('.') ? 'no-cache' : 'no-store';
}

function sendNotBuilt(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const fault = new UserError(dashboardNotBuilt);
  if (!wantsHtml(request)) throw fault;
  return reply
    .code(fault.status)
    .headers({ ...htmlHeaders, ...fault.headers })
    .type('text/html; charset=utf-8')
    .send(
      `<!doctype html>\n<html lang="en"><title>Gatehouse</title>\n<h1>No dashboard yet</h1>\n<p>${fault.message}</p>\n`,
    );
}
