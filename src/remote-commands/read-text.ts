import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { buffer as readAll } from 'node:stream/consumers';

import type { Host } from '../command-line/host.ts';
import { CommandFault } from './exit.ts';

/** The text of a file; "-" is standard input, where that is given. Throws a `CommandFault` for what is no text. */
export async function readText(path: string, stdin?: Host['stdin']): Promise<string> {
  const isStdin = path === '-' && stdin !== undefined;
  const name = isStdin ? 'standard input' : path;
  const bytes = await (isStdin ? readAll(stdin) : readFile(path)).catch((error: Error) => {
    throw new CommandFault(`${name} cannot be read: ${error.message}`);
  });
  const mark = bytes.subarray(0, 2).toString('hex');
  if (mark === 'fffe' || mark === 'feff')
    throw new CommandFault(`${name} is UTF-16, as some editors and shells of Windows write it: save it as UTF-8`);
  if (!isUtf8(bytes) || bytes.includes(0)) throw new CommandFault(`${name} is no text in UTF-8: is it the right file?`);
  return bytes.toString('utf8');
}
