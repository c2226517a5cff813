import { sqlitePath } from '../store/open-database.ts';
import type { DatabaseCommand } from './database-command.ts';
import { describeContent } from './describe-content.ts';
import { pgToolArguments } from './pg-tools.ts';
import { restore } from './restore-database.ts';

export const restoreCommand: DatabaseCommand = {
  name: 'restore',
  summary: 'put a backup in the place of the SQLite database, which is kept; the service must not run',
  options: [
    { flag: '<file>', description: 'a file that `gatehouse backup` wrote', required: true },
    {
      flag: '--force',
      description: 'replace a damaged database, when you know that no process has it open',
      required: false,
    },
  ],
  async run({ url, migrations }, { file = '', force }) {
    const path = sqlitePath(url);
    if (path === undefined) {
      const { target, quoted } = pgToolArguments(url, file);
      throw new Error(
        `the database is PostgreSQL. Make a new, empty database, and fill it with:\n\n` +
          `  pg_restore --exit-on-error --single-transaction --no-owner --dbname=${target} ${quoted}`,
      );
    }
    const content = await restore({ path, file, force: force !== undefined, migrations });
    const { keptAs, isOlder } = content;
    return [
      describeContent(content),
      '',
      `${path} now holds the content of ${file}.`,
      ...(keptAs === undefined ? [] : [`What it held before is kept as ${keptAs}.`]),
      ...(isOlder ? ['It is of an older version; the next start brings it up to date.'] : []),
    ].join('\n');
  },
};
