import { backupCommand } from './backup.ts';
import type { DatabaseCommand } from './database-command.ts';
import { moveCommand } from './move.ts';
import { restoreCommand } from './restore.ts';

export const databaseCommands: readonly DatabaseCommand[] = [backupCommand, restoreCommand, moveCommand];
