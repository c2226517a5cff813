import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';

import type { SendTo } from './send-to.ts';

/** A file of this size gets a number behind its name, and a new one begins. */
const rotatedBytes = 8 * 1024 * 1024;
/** Numbered files of one name. */
const keptFiles = 9;
/** Files of one account: each event could go to another, and each attempt looks at all. */
export const mostFiles = 200;
const newline = 0x0a;

export interface EventFolder {
  readonly folder: string;
  /** Of all files of one account. */
  readonly mostBytes: number;
}

/** Appends events, a line of JSON each, to a file in the folder of the account. */
export function sendToFile(place: EventFolder | undefined): SendTo<'file'> {
  const busy = new Map<string, Promise<void>>();
  return async ({ accountId, target, events, signal }) => {
    if (place === undefined) return { kind: 'failed', reason: 'this installation has no folder for events' };
    const folder = join(place.folder, accountId);
    // Files of one account are written one after another: the bound counts them together.
    const before = busy.get(accountId);
    const lines = Buffer.from(events.map(({ body }) => `${body}\n`).join(''));
    const writing = (before ?? Promise.resolve()).then(async () => {
      signal.throwIfAborted();
      await append(folder, target.name, lines, place.mostBytes);
    });
    const settled = writing.catch(() => {});
    busy.set(accountId, settled);
    try {
      await writing;
    } catch (error) {
      throw withoutPath(error);
    } finally {
      if (busy.get(accountId) === settled) busy.delete(accountId);
    }
    return { kind: 'sent' };
  };
}

/** Accounts are told what is wrong, and not how folders of the machine are named. */
function withoutPath(error: unknown): unknown {
  // What Node throws of a file has a code.
  const { code } = error as NodeJS.ErrnoException;
  return typeof code !== 'string' ? error : new Error(`the file cannot be written (${code})`, { cause: error });
}

async function append(folder: string, name: string, lines: Buffer, mostBytes: number): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const path = join(folder, name);
  const names = await readdir(folder);
  if (names.length >= mostFiles && !names.includes(name))
    throw new Error(`this account has ${mostFiles} files; delete one`);
  const { O_APPEND, O_CREAT, O_RDWR, O_NOFOLLOW } = constants;
  let file = await open(path, O_APPEND | O_CREAT | O_RDWR | O_NOFOLLOW, 0o600);
  try {
    const { size } = await file.stat();
    if (size > 0 && size + lines.length > rotatedBytes) {
      await file.close();
      await rotate(path);
      file = await open(path, O_APPEND | O_CREAT | O_RDWR | O_NOFOLLOW, 0o600);
    }
    await makeRoom(folder, lines.length, mostBytes);
    await file.appendFile((await endsInLine(file)) ? lines : Buffer.concat([Buffer.of(newline), lines]));
    await file.datasync();
  } finally {
    await file.close();
  }
}

/** False where a process died while it wrote: its line must not become the beginning of the next one. */
async function endsInLine(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return true;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer[0] === newline;
}

async function rotate(path: string): Promise<void> {
  for (let number = keptFiles; number > 0; number--) {
    const from = number === 1 ? path : `${path}.${number - 1}`;
    await rename(from, `${path}.${number}`).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error;
    });
  }
}

/** Removes numbered files, the oldest first, until there is room. */
async function makeRoom(folder: string, bytes: number, mostBytes: number): Promise<void> {
  const files = await Promise.all(
    (await readdir(folder)).map(async (name) => {
      const { size, mtimeMs } = await lstat(join(folder, name));
      return { name, size, mtimeMs };
    }),
  );
  let used = files.reduce((sum, { size }) => sum + size, bytes);
  const oldest = files.filter(({ name }) => /\.\d$/.test(name)).toSorted((a, b) => a.mtimeMs - b.mtimeMs);
  for (const { name, size } of oldest) {
    if (used <= mostBytes) return;
    await rm(join(folder, name));
    used -= size;
  }
  if (used > mostBytes) throw new Error(`the files of this account have reached ${mostBytes} bytes; delete one`);
}
