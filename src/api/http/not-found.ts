import type { FastifyInstance, FastifyRequest } from 'fastify';
import createRouter from 'find-my-way';

import { quote, UserError } from '../../errors/user-error.ts';
import { setCommonHeaders } from './common-headers.ts';
import { methodNotAllowed, notOffered, pathNotFound } from '../errors.ts';
import { findHostedPath } from './hosted-paths.ts';
import { pathRemedy } from './path-remedy.ts';
import type { VendorWords } from './vendor-words.ts';

type MethodsByPath = ReadonlyMap<string, ReadonlySet<string>>;

/** Longer parameters of a path are none that anything here has. */
export const maxParamLength = 500;

/**
 * Answers 405, with the possible methods, on every path that exists, and 404 on every other one. Both come before the
 * body is read, so that a request to nowhere gets no other error.
 */
export async function refuseUnknown(
  app: FastifyInstance,
  methodsByPath: MethodsByPath,
  vendor: VendorWords,
): Promise<void> {
  knownPaths.set(app.server, [...methodsByPath.keys()]);
  const refusal = refusals(methodsByPath);
  app.addHook('onRequest', (request, reply, done) => {
    done(setCommonHeaders(request, reply, vendor) ?? refusal(request));
  });
  app.setNotFoundHandler((request) => {
    throw notFound(request);
  });
  // The framework would find the files below a folder for methods that a path in it does not have.
  for (const { method, url } of pathsInFolders(methodsByPath)) app.route({ method, url, handler: () => {} });
}

/** Finds the paths as the framework does, whatever the method. Routes for every method would make the start longer. */
function refusals(methodsByPath: MethodsByPath): (request: FastifyRequest) => UserError {
  const router = createRouter({ maxParamLength });
  for (const [path, methods] of methodsByPath)
    router.on('GET', path, () => {}, { allowed: [...methods].toSorted().join(', ') });
  return (request) => {
    const found = router.find('GET', request.url);
    // The router lets a parameter be empty: `/api_keys/` is not a key.
    if (found === null || Object.values(found.params).includes('')) return notFound(request);
    // Set above.
    const { allowed } = found.store as { readonly allowed: string };
    return wrongMethod(request, allowed);
  };
}

function wrongMethod(request: FastifyRequest, allowed: string): UserError {
  // Only the deletion of a module that is not offered is possible there.
  const hosted = allowed === 'DELETE' ? hostedFault(pathOf(request)) : undefined;
  if (hosted !== undefined) return hosted;
  return new UserError(
    methodNotAllowed,
    { method: request.method, path: quote(pathOf(request)), allowed },
    { Allow: allowed },
  );
}

/** Paths below `/folder/*`, and `/folder/word` beside `/folder/:id`, each with the methods that the other has and it has not. */
function pathsInFolders(methodsByPath: MethodsByPath): readonly { readonly method: string[]; readonly url: string }[] {
  return [...methodsByPath].flatMap(([folder, methods]) => {
    const below = folder.replace(/(?:\*|:id)$/, '');
    if (below === folder) return [];
    return [...methodsByPath]
      .filter(([path]) => path !== folder && path.startsWith(below) && (folder.endsWith('*') || isWord(path, below)))
      .map(([url, own]) => ({ method: [...methods.difference(own)], url }));
  });
}

function isWord(path: string, below: string): boolean {
  return /^\w+$/.test(path.slice(below.length));
}

export function collectRoutes(app: FastifyInstance): MethodsByPath {
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
