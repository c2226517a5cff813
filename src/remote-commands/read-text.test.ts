import assert from 'node:assert/strict';
import { mkdtemp, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { test } from 'node:test';

import { CommandFault } from './exit.ts';
import { readText } from './read-text.ts';

test('what is no text is said to be none, with its name', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-text-'));
  try {
    const path = join(folder, 'given');
    const read = async (bytes: Uint8Array | string) => {
      await writeFile(path, bytes);
      return readText(path);
    };
    assert.equal(await read('a: é\n'), 'a: é\n');
    await assert.rejects(read(Buffer.from([0x80, 0xff, 0x41])), {
      message: `${path} is no text in UTF-8: is it the right file?`,
    });
    await assert.rejects(read('a\0b'), /is no text in UTF-8/);
    await assert.rejects(read(Buffer.from('\u{feff}a: 1\n', 'utf16le')), /is UTF-16, .* save it as UTF-8$/);
    await assert.rejects(
      readText(join(folder, 'none')),
      (error) => error instanceof CommandFault && /none cannot be read: ENOENT/.test(error.message),
    );
    await assert.rejects(readText(folder), /cannot be read: EISDIR/);
    await writeFile(path, '');
    await truncate(path, 64 * 1024 * 1024 + 1);
    await assert.rejects(readText(path), /given cannot be read: it has more than 64 MiB/);
    const link = join(folder, 'endless.yaml');
    await symlink('/dev/zero', link);
    await assert.rejects(readText(link), /endless\.yaml cannot be read: it has more than 64 MiB/);
    const stdin = Readable.from([Buffer.from([0xff])]) as unknown as NodeJS.ReadStream & { fd: 0 };
    await assert.rejects(readText('-', stdin), /^CommandFault: standard input is no text/);
  } finally {
    await rm(folder, { recursive: true });
  }
});
