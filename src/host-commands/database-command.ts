import type { HostOption } from '../resources/host-command.ts';
import type { Migration } from '../store/migrate.ts';

/** A command of the host's own command line that is about the database as a whole. It opens and migrates nothing before. */
export interface DatabaseCommand {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly HostOption[];
  /** Answers what is printed. An option without a value is there or undefined. */
  run(database: DatabaseAsConfigured, values: Readonly<Record<string, string | undefined>>): Promise<string>;
}

export interface DatabaseAsConfigured {
  readonly url: string;
  /** All that this version knows, beside the store's own. */
  readonly migrations: readonly Migration[];
}
