import { METHODS } from 'node:http';

import type { FastifyInstance, FastifyRequest } from 'fastify';

import { quote, UserError } from '../../errors/user-error.ts';
import { setCommonHeaders } from './common-headers.ts';
import { methodNotAllowed, notOffered, pathNotFound } from '../errors.ts';
import { findHostedPath } from './hosted-paths.ts';
import { pathRemedy } from './path-remedy.ts';
import type { VendorWords } from './vendor-words.ts';

/**
 * Answers 405, with the possible methods, on every path that exists, and 404 on every other one. Both come before the
 * body is read, so that a request to nowhere gets no other error.
 */
export async function refuseUnknown(
  app: FastifyInstance,
  methodsByPath: ReadonlyMap<string, ReadonlySet<string>>,
  vendor: VendorWords,
): Promise<void> {
  knownPaths.set(app.server, [...methodsByPath.keys()]);
  app.addHook('onRequest', (request, reply, done) => {
    done(setCommonHeaders(request, reply, vendor) ?? (request.is404 ? notFound(request) : undefined));
  });
  app.setNotFoundHandler((request) => {
    throw notFound(request);
  });
  for (const [path, methods] of methodsByPath) {
    const allowed = [...methods].toSorted().join(', ');
    app.route({
      method: everyMethod.filter((method) => !methods.has(method)),
      url: path,
      onRequest: (request, _reply, done) => {
        done(wrongMethod(request, allowed));
      },
      handler: () => {},
    });
  }
}

function wrongMethod(request: FastifyRequest, allowed: string): UserError {
  // The router lets a parameter be empty: `/api_keys/` is not a key.
  if (Object.values(request.params as Record<string, string>).includes('')) return notFound(request);
  // Only the deletion of a module that is not offered is possible there.
  const hosted = allowed === 'DELETE' ? hostedFault(pathOf(request)) : undefined;
  if (hosted !== undefined) return hosted;
  return new UserError(
    methodNotAllowed,
    { method: request.method, path: quote(pathOf(request)), allowed },
    { Allow: allowed },
  );
}

/** Every method but CONNECT, which Node handles apart. */
export const everyMethod = METHODS.filter((method) => method !== 'CONNECT');

export function collectRoutes(app: FastifyInstance): ReadonlyMap<string, ReadonlySet<string>> {
  const methodsByPath = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ url, method }) => {
    const methods = methodsByPath.get(url) ?? new Set();
    methodsByPath.set(url, methods);
    for (const each of [method].flat()) methods.add(each);
  });
  return methodsByPath;
}

/** Paths that exist, by the server that has them. */
const knownPaths = new WeakMap<object, readonly string[]>();

export function notFound(request: FastifyRequest): UserError {
  const path = pathOf(request);
  const remedy = pathRemedy(path, knownPaths.get(request.server.server) ?? []);
  return hostedFault(path) ?? new UserError(pathNotFound, { path: quote(path), remedy });
}

function hostedFault(path: string): UserError | undefined {
  const hosted = findHostedPath(path);
  return hosted && new UserError(notOffered, { what: hosted.what, path: quote(path), instead: hosted.instead });
}

export function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? '';
}
