import type { DatabaseCommand } from './database-command.ts';
import { moveDatabase } from './move-database.ts';
import { formatTable } from './text-table.ts';

export const moveCommand: DatabaseCommand = {
  name: 'move',
  summary: 'copy everything into an empty database of the other kind, and compare',
  options: [{ flag: '--to <url>', description: 'postgres://user@host/database or sqlite:PATH', required: true }],
  async run({ url, migrations }, { to = '' }) {
    if (!/^(sqlite:.|postgres(ql)?:\/\/.)/.test(to)) {
      throw new Error('write --to as sqlite:PATH or postgres://user:password@host/database');
    }
    const { version, sourceVersion, tables } = await moveDatabase({ from: url, to, migrations });
    return [
      formatTable(
        ['table', 'rows', 'SHA-256, the same in both'],
        tables.map(({ name, rows, checksum }) => [name, rows, checksum]),
      ),
      '',
      `Moved at version ${version}. The source is as it was.`,
      ...(sourceVersion === version
        ? ['Set GATEHOUSE_DATABASE_URL to the new database, with the same GATEHOUSE_SECRET_KEY, and start.']
        : [
            `It was written to meanwhile, and is at version ${sourceVersion}: what came after ${version} is not in the target.`,
            'Stop the API processes, and move into an empty database again.',
          ]),
    ].join('\n');
  },
};
