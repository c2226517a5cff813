import { changeLogMigration, changePartsMigration, changeSourceMigration } from './write/change-log.ts';
import { historyMigration } from './write/history.ts';
import type { Migration } from './migrate.ts';
import { observedChangesMigration } from './write/observed-changes.ts';

/** The store's own migrations, which run before all others. */
export const storeMigrations: readonly Migration[] = [
  changeLogMigration,
  observedChangesMigration,
  historyMigration,
  changeSourceMigration,
  changePartsMigration,
];
