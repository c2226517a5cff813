import { open } from 'node:fs/promises';
import { userInfo } from 'node:os';

const othersBits = 0o077;
const maxBytes = 64 * 1024;

/** A file that is not private, or that cannot be read; its message says what to do. */
export class PrivateFileFault extends Error {
  override readonly name = 'PrivateFileFault';
}

/**
 * Reads a file that may hold secrets; undefined if there is none. Throws a `PrivateFileFault` for one that others may read or
 * write, or that belongs to somebody else: whoever can change it can send this machine's traffic to a server of their own.
 */
export async function readPrivateFile(path: string): Promise<string | undefined> {
  const file = await open(path, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw new PrivateFileFault(`${path} cannot be read: ${error.message}`);
  });
  if (file === undefined) return undefined;
  try {
    // The open file, not its name, so that what is checked is what is read.
    const { mode, uid, size } = await file.stat();
    const own = userInfo().uid;
    if (own >= 0 && uid !== own && uid !== 0)
      throw new PrivateFileFault(`${path} belongs to another user: take it over (chown), or write one of your own`);
    if (own >= 0 && (mode & othersBits) !== 0)
      throw new PrivateFileFault(
        `${path} may hold secrets, but others have rights on it (mode ${(mode & 0o777).toString(8)}). Run: chmod 600 ${path}`,
      );
    if (size > maxBytes)
      throw new PrivateFileFault(`${path} is larger than ${maxBytes} bytes, which no such file needs`);
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}
