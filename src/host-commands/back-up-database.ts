import { existsSync } from 'node:fs';

import { requireDatabaseFile } from '../store/open-database.ts';
import { copyBeside, inspectFile, removePartial, renameDurably } from './sqlite-file.ts';
import type { FileContent } from './sqlite-file.ts';

interface BackupOptions {
  readonly path: string;
  readonly file: string;
  /** Replace what `file` holds. */
  readonly force: boolean;
}

/** Copies a SQLite database in use to `file`, which never holds less than a whole, sound copy. */
export async function backUp({ path, file, force }: BackupOptions): Promise<FileContent> {
  requireDatabaseFile(path);
  if (!force && existsSync(file)) throw new Error(`${file} exists; give another name, or --force to replace it`);
  // Not read-only: only a connection that may write can clear away the side files of a database that nobody else uses.
  const copy = await copyBeside(path, file, { readOnly: false });
  try {
    const content = await inspectFile(copy);
    await renameDurably(copy, file);
    return content;
  } catch (error) {
    await removePartial(copy);
    throw error;
  }
}
