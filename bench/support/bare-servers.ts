import { freePort, Process } from './process.ts';
import type { ProcessOptions } from './process.ts';

export interface Listening extends AsyncDisposable {
  readonly process: Process;
  readonly port: number;
}

/** Starts a program of `bench/servers/`, whose arguments are a free port and then `args`. */
export async function startServer(name: string, args: readonly string[], options?: ProcessOptions): Promise<Listening> {
  const port = await freePort();
  const program = new URL(`../servers/${name}.ts`, import.meta.url).pathname;
  const server = new Process([process.execPath, program, String(port), ...args], options);
  await server.untilListening(port);
  return { process: server, port, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}
