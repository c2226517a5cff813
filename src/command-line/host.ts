import { toTerminal } from '../lib/terminal-text.ts';

/** The part of the process that commands work with. */
export type Host = Pick<
  NodeJS.Process,
  'env' | 'pid' | 'stdin' | 'stdout' | 'stderr' | 'on' | 'once' | 'exit' | 'exitCode'
>;

/** Lets no control character of others through to the terminal, whichever command prints it. */
export function guardOutput(stream: Pick<NodeJS.WriteStream, 'write'>): void {
  // The overloads of `write` differ in what follows the text, which is passed on as it is.
  const write = stream.write.bind(stream) as (text: string, ...rest: unknown[]) => boolean;
  stream.write = (chunk: Uint8Array | string, ...rest: unknown[]) =>
    write(toTerminal(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString()), ...rest);
}
