import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import type { Readable } from 'node:stream';

import type { Host } from '../command-line/host.ts';
import { CommandFault } from './exit.ts';

/** Twice the longest body that a server takes. */
const mostBytes = 64 * 1024 * 1024;

/** The text of a file; "-" is standard input, where that is given. Throws a `CommandFault` for what is no text. */
export async function readText(path: string, stdin?: Host['stdin']): Promise<string> {
  const isStdin = path === '-' && stdin !== undefined;
  const name = isStdin ? 'standard input' : path;
  const bytes = await readAll(isStdin ? stdin : createReadStream(path)).catch((error: Error) => {
    throw new CommandFault(`${name} cannot be read: ${error.message}`);
  });
  const mark = bytes.subarray(0, 2).toString('hex');
  if (mark === 'fffe' || mark === 'feff')
    throw new CommandFault(`${name} is UTF-16, as some editors and shells of Windows write it: save it as UTF-8`);
  if (!isUtf8(bytes) || bytes.includes(0)) throw new CommandFault(`${name} is no text in UTF-8: is it the right file?`);
  return bytes.toString('utf8');
}

/** Reads a device without an end no further than a file may be long. */
async function readAll(stream: Readable): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  for await (const piece of stream as AsyncIterable<Buffer>) {
    length += piece.length;
    if (length > mostBytes) throw new Error(`it has more than ${mostBytes / 1024 / 1024} MiB`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
