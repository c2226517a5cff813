import { normalizePath, otherReadings } from '../../../lib/request-path.ts';
import type { Steps } from '../../../lib/steps.ts';
import { buildModules } from '../../../modules/index.ts';
import type { Pipeline } from '../../../modules/module.ts';
import type { RouteEntry } from '../../../snapshot/contract.ts';
import { HeaderGuard } from '../headers/header-guard.ts';

export interface Route {
  readonly id: string;
  readonly pipeline: Pipeline;
  /** Undefined if no module rewrites requests. */
  readonly guard: HeaderGuard | undefined;
}

/** The routes of one edge. Paths are compared in the spelling of `normalizePath`. */
export class RouteTable {
  /** Undefined if there are none, as in most edges: there may be very many edges. */
  #exact: Map<string, Route> | undefined;
  readonly #prefixes = new Map<string, Route>();
  #longestPrefix = 0;
  #clientCa: string | undefined;

  /** Throws for a module that is not known. Yields after each route: an edge may have very many. */
  static *of(entries: readonly RouteEntry[]): Steps<RouteTable> {
    const table = new RouteTable();
    for (const entry of entries) {
      table.#add(entry);
      yield;
    }
    return table;
  }

  #add(entry: RouteEntry): void {
    const match = normalizePath(entry.match);
    const route = buildRoute(entry);
    this.#clientCa ??= route.pipeline.clientCa;
    if (entry.matchType === 'exact_path') {
      (this.#exact ??= new Map()).set(match, route);
    } else {
      this.#prefixes.set(match, route);
      this.#longestPrefix = Math.max(this.#longestPrefix, match.length);
    }
  }

  /**
   * Returns 'ambiguous' if another reading of the path leads to another route: upstreams differ on whether `//` is `/`,
   * whether `;x` belongs to a segment, and how often they decode.
   */
  choose(matchPath: string): Route | 'ambiguous' | undefined {
    const route = this.#lookUp(matchPath);
    const readings = otherReadings(matchPath);
    const isClear = readings?.every((reading) => this.#lookUp(reading) === route) === true;
    return isClear ? route : 'ambiguous';
  }

  /** Authorities whose certificates clients must show; all routes of an edge share the handshake. */
  get clientCa(): string | undefined {
    return this.#clientCa;
  }

  withId(id: string): Route | undefined {
    for (const routes of [this.#prefixes, this.#exact ?? []]) {
      for (const [, route] of routes) if (route.id === id) return route;
    }
    return undefined;
  }

  #lookUp(path: string): Route | undefined {
    return this.#exact?.get(path) ?? this.#longestMatch(path);
  }

  /** A prefix covers whole segments: `/blog` covers `/blog`, `/blog/` and `/blog/a`; `/blog/` covers the latter two. */
  #longestMatch(path: string): Route | undefined {
    const whole = this.#prefixes.get(path);
    if (whole !== undefined) return whole;
    let slash = path.lastIndexOf('/', this.#longestPrefix);
    while (slash >= 0) {
      const route = this.#prefixes.get(path.slice(0, slash + 1)) ?? this.#prefixes.get(path.slice(0, slash));
      if (route !== undefined) return route;
      slash = slash === 0 ? -1 : path.lastIndexOf('/', slash - 1);
    }
    return undefined;
  }
}

function buildRoute({ id, modules }: RouteEntry): Route {
  const pipeline = buildModules(modules);
  return { id, pipeline, guard: pipeline.rewriteRequest === undefined ? undefined : new HeaderGuard(pipeline) };
}
