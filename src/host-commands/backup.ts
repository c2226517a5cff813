import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

import { sqlitePath } from '../lib/database-url.ts';
import { requireDatabaseFile } from '../store/open-database.ts';
import type { DatabaseCommand } from './database-command.ts';
import { pgToolArguments } from './pg-tools.ts';
import { copyBeside, describeContent, inspectFile, removePartial, renameDurably } from './sqlite-file.ts';
import type { FileContent } from './sqlite-file.ts';

export const backupCommand: DatabaseCommand = {
  name: 'backup',
  summary: 'copy a SQLite database to a file while the service runs',
  options: [
    { flag: '<file>', description: 'where to write the copy', required: true },
    { flag: '--force', description: 'replace the file if it exists', required: false },
  ],
  async run({ url }, { file = '', force }) {
    const path = sqlitePath(url);
    if (path === undefined) {
      const { target, quoted } = pgToolArguments(url, file);
      throw new Error(
        `the database is PostgreSQL, which makes consistent copies itself:\n\n` +
          `  pg_dump --format=custom --no-owner --file=${quoted} ${target}\n\nIt takes the password from PGPASSWORD, or asks for it.`,
      );
    }
    const content = await backUp({ path, file, force: force !== undefined });
    return `${describeContent(content)}\n\nWritten to ${file}, and read through: it is sound.`;
  },
};

interface BackupOptions {
  readonly path: string;
  readonly file: string;
  /** Replace what `file` holds. */
  readonly force: boolean;
}

/** Copies a SQLite database, also one in use, to `file`, which never holds less than a whole, sound copy. */
export async function backUp({ path, file, force }: BackupOptions): Promise<FileContent> {
  requireDatabaseFile(path);
  if (!force && existsSync(file)) throw new Error(`${file} exists; give another name, or --force to replace it`);
  const folder = dirname(resolve(file));
  if (!existsSync(folder)) throw new Error(`the folder ${folder} does not exist: make it first, or name another file`);
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
