import type { HostOption } from '../resources/host-command.ts';
import type { Migration } from '../store/migrate.ts';

/** A command of the host's command line about the database as a whole, which is neither opened nor migrated before. */
export interface DatabaseCommand {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly HostOption[];
  /** Returns the text to print. An option that takes no value is undefined when it is not given. */
  run(database: DatabaseAsConfigured, values: Readonly<Record<string, string | undefined>>): Promise<string>;
}

export interface DatabaseAsConfigured {
  readonly url: string;
  /** All migrations of this version, except the store's own. */
  readonly migrations: readonly Migration[];
}
