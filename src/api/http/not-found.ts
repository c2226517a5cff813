import type { FastifyInstance, FastifyRequest } from 'fastify';

import { quote, UserError } from '../../errors/user-error.ts';
import { setCommonHeaders } from './common-headers.ts';
import { methodNotAllowed, notOffered, pathNotFound } from '../errors.ts';
import type { Operation } from '../operation.ts';
import { findHostedPath, methodRemedy } from './hosted-paths.ts';
import { pathRemedy, usualRemedy } from './path-remedy.ts';
import { PathTree } from './path-tree.ts';
import type { PathParams } from './path-tree.ts';
import type { VendorWords } from './vendor-words.ts';

/** A path of the API: the methods that it has, and what these do where it is an operation. */
interface KnownPath {
  readonly methods: Set<string>;
  readonly operations: Map<string, Operation>;
}

/** Route of everything that has no other one. */
export const everyPath = '/*';

/** All paths of an API, those of operations and those of other routes. */
export class KnownPaths {
  readonly #paths = new Map<string, KnownPath>();
  readonly #tree = new PathTree<KnownPath>();
  /** Every path, cut at "/"; made when it is first needed. */
  #parts: readonly (readonly string[])[] | undefined;

  /** Notes the routes that are registered from now on. */
  constructor(app: FastifyInstance) {
    app.addHook('onRoute', ({ url, method }) => {
      if (url !== everyPath) for (const each of [method].flat()) this.#at(url).methods.add(each);
    });
  }

  addOperation(operation: Operation): void {
    const { operations, methods } = this.#at(routePath(operation));
    for (const method of operation.method === 'GET' ? ['GET', 'HEAD'] : [operation.method]) {
      operations.set(method, operation);
      methods.add(method);
    }
  }

  /** Finds the operation of a request, with the parameters of its path. */
  findOperation(
    request: Pick<FastifyRequest, 'method' | 'url'>,
  ): { readonly operation: Operation; readonly params: PathParams } | undefined {
    const found = this.#tree.find(request.url);
    const operation = found?.value.operations.get(request.method);
    return found === undefined || operation === undefined ? undefined : { operation, params: found.params };
  }

  /** Answers 405, with the possible methods, on every path that exists, and 404 on every other one. */
  refusal(request: FastifyRequest): UserError {
    const known = this.#tree.find(request.url)?.value;
    return known === undefined ? notFound(request) : wrongMethod(request, [...known.methods].toSorted().join(', '));
  }

  /** Answers 404 as `refusal` does, with the path that was probably meant. To look for it costs more than a refusal. */
  suggestion(request: FastifyRequest): UserError {
    this.#parts ??= [...this.#paths.keys()].map((path) => path.split('/'));
    const path = pathOf(request);
    return missing(path, pathRemedy(path, this.#parts));
  }

  /** Paths below a `/folder/*`, each with the methods that the folder has and it has not. */
  inFolders(): readonly { readonly method: string[]; readonly url: string }[] {
    return [...this.#paths].flatMap(([folder, { methods }]) =>
      [...this.#paths]
        .filter(([path]) => folder.endsWith('*') && path !== folder && path.startsWith(folder.slice(0, -1)))
        .map(([url, own]) => ({ method: [...methods.difference(own.methods)], url })),
    );
  }

  #at(path: string): KnownPath {
    const known = this.#paths.get(path) ?? { methods: new Set(), operations: new Map() };
    if (!this.#paths.has(path)) this.#tree.add(path, known);
    this.#paths.set(path, known);
    return known;
  }
}

/** The path of an operation in the words of the framework: `/users/:id`. */
export function routePath({ path }: Operation): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

/** Refuses whatever has no route, before its body is read, so that a request to nowhere gets no other error. */
export async function refuseUnknown(app: FastifyInstance, paths: KnownPaths, vendor: VendorWords): Promise<void> {
  app.addHook('onRequest', (request, reply, done) => {
    done(setCommonHeaders(request, reply, vendor) ?? paths.refusal(request));
  });
  app.setNotFoundHandler((request) => {
    throw notFound(request);
  });
  // The framework would find the files below a folder for methods that a path in it does not have.
  for (const { method, url } of paths.inFolders()) app.route({ method, url, handler: () => {} });
}

function wrongMethod(request: FastifyRequest, allowed: string): UserError {
  // Only the deletion of a module that is not offered is possible there.
  const hosted = allowed === 'DELETE' ? hostedFault(pathOf(request)) : undefined;
  if (hosted !== undefined) return hosted;
  const path = pathOf(request);
  const advice = methodRemedy(request.method, path);
  const remedy = [`Possible: ${allowed}.`, ...(advice === undefined ? [] : [advice])].join(' ');
  return new UserError(methodNotAllowed, { method: request.method, path: quote(path), remedy }, { Allow: allowed });
}

export function notFound(request: FastifyRequest): UserError {
  const path = pathOf(request);
  return missing(path, usualRemedy(path));
}

function missing(path: string, remedy: string): UserError {
  return hostedFault(path) ?? new UserError(pathNotFound, { path: quote(path), remedy });
}

function hostedFault(path: string): UserError | undefined {
  const hosted = findHostedPath(path);
  return hosted && new UserError(notOffered, { what: hosted.what, path: quote(path), instead: hosted.instead });
}

export function pathOf(request: FastifyRequest): string {
  return request.url.split('?', 1)[0] ?? '';
}
