import { homedir } from 'node:os';
import { join } from 'node:path';

/** The folder of a user's own settings of the program (XDG Base Directory). */
export function configFolder(environment: Readonly<Record<string, string | undefined>>): string {
  const folder = environment['XDG_CONFIG_HOME'] || join(environment['HOME'] || homedir(), '.config');
  return join(folder, 'gatehouse');
}
