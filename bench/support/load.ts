import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { loadCores } from './cores.ts';
import type { NodeLoadOptions, NodeLoadResult } from './node-load.ts';
import { Process } from './process.ts';
import { scratchFolder } from './scratch.ts';

/** Load over kept-alive connections, each of which sends its next request as soon as the last is answered. */
export interface LoadOptions {
  readonly port: number;
  /** Uses TLS, with the name `localhost`. */
  readonly tls?: boolean;
  readonly method?: string;
  /** Requested in turn; default `/`. */
  readonly paths?: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly connections?: number;
  readonly seconds: number;
}

export interface LoadResult {
  readonly requests: number;
  readonly perSecond: number;
  readonly megabytesPerSecond: number;
  readonly p99Ms: number;
}

const usualConnections = 32;
export const hasWrk = spawnSync('wrk', ['--version']).error === undefined;
export const loader = hasWrk ? 'wrk' : 'a small generator on Node (wrk is not installed)';

export async function load(options: LoadOptions): Promise<LoadResult> {
  return hasWrk ? loadWithWrk(options) : loadWithNode(options);
}

async function loadWithWrk(options: LoadOptions): Promise<LoadResult> {
  const { port, tls = false, seconds, headers = {}, connections = usualConnections } = options;
  const script = join(await scratchFolder(), 'load.lua');
  writeFileSync(script, wrkScript(options));
  const url = `${tls ? 'https' : 'http'}://localhost:${port}${options.paths?.[0] ?? '/'}`;
  const given = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const wrk = ['wrk', '-t1', `-c${connections}`, `-d${seconds}s`, '-s', script, ...given, url];
  await using program = new Process(wrk, { cores: loadCores });
  const [, line = ''] = /^RESULT (.*)$/m.exec(await program.ended()) ?? [];
  const [requests = 0, microseconds = 0, bytes = 0, refused = 0, broken = 0, p99Us = 0] = line.split(' ').map(Number);
  if (requests === 0 || refused > 0) throw new Error(`${url}: ${refused} of ${requests} requests were refused`);
  if (broken > requests / 1000) throw new Error(`${url}: ${broken} connections failed beside ${requests} requests`);
  const elapsed = microseconds / 1e6;
  return { requests, perSecond: requests / elapsed, megabytesPerSecond: bytes / 1e6 / elapsed, p99Ms: p99Us / 1000 };
}

/** Writes the Lua script for wrk, whose flags take one path, no body, and whole seconds only. */
function wrkScript({ method = 'GET', paths = ['/'], body }: LoadOptions): string {
  const lines = [`wrk.method = "${method}"`];
  if (body !== undefined) lines.push(`wrk.body = [==[${body}]==]`);
  if (paths.length > 1) {
    lines.push(
      `local paths = { ${paths.map((path) => `"${path}"`).join(', ')} }`,
      `local requests, at = {}, ${nextStart(paths.length)}`,
      'function init() for i, path in ipairs(paths) do requests[i] = wrk.format(nil, path) end end',
      'function request() at = at % #requests + 1; return requests[at] end',
    );
  }
  lines.push(
    'function done(summary, latency)',
    '  local e = summary.errors',
    '  print(string.format("RESULT %d %d %d %d %d %d", summary.requests, summary.duration, summary.bytes, e.status,',
    '    e.connect + e.read + e.write + e.timeout, latency:percentile(99)))',
    'end',
  );
  return lines.join('\n');
}

let starts = 0;

/**
 * Returns the index of the first path of a run, far from those of the runs before it, whose documents may still be in
 * the server's cache.
 */
function nextStart(count: number): number {
  return Math.floor(count * (((starts += 1) * 0.382) % 1));
}

async function loadWithNode(options: LoadOptions): Promise<LoadResult> {
  const { port, seconds, tls = false, method = 'GET', paths: given = ['/'], headers = {}, body } = options;
  const start = nextStart(given.length);
  const paths = [...given.slice(start), ...given.slice(0, start)];
  const result = await runNodeLoad({
    port,
    seconds,
    ...(body === undefined ? {} : { bodies: [body] }),
    ...(tls ? { servername: 'localhost' } : {}),
    method,
    paths,
    headers: { Host: `localhost:${port}`, ...headers },
    connections: options.connections ?? usualConnections,
  });
  return {
    requests: result.requests,
    perSecond: result.requests / result.seconds,
    megabytesPerSecond: Number.NaN,
    p99Ms: result.p99Ms,
  };
}

let loads = 0;

export async function runNodeLoad(options: NodeLoadOptions, niceness = 0): Promise<NodeLoadResult> {
  const program = new URL('node-load.ts', import.meta.url).pathname;
  // A file, because a hundred thousand paths are too long for an argument.
  const file = join(await scratchFolder(), `load-${(loads += 1)}.json`);
  writeFileSync(file, JSON.stringify(options));
  await using child = new Process([process.execPath, program, file], { cores: loadCores, niceness });
  // The program `node-load.ts` prints this type.
  const result = JSON.parse(await child.ended()) as NodeLoadResult;
  if (result.refused > 0) throw new Error(`${result.refused} of ${result.requests} requests were refused`);
  return result;
}
