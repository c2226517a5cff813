import { sqlitePath } from '../store/open-database.ts';
import { backUp } from './back-up-database.ts';
import type { DatabaseCommand } from './database-command.ts';
import { describeContent } from './describe-content.ts';
import { pgToolArguments } from './pg-tools.ts';

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
          `  pg_dump --format=custom --no-owner --file=${quoted} ${target}`,
      );
    }
    const content = await backUp({ path, file, force: force !== undefined });
    return `${describeContent(content)}\n\nWritten to ${file}, and read through: it is sound.`;
  },
};
