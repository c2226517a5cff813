import type { Host } from '../../../command-line/host.ts';
import { exitCodes } from '../../exit.ts';
import { readText } from '../../read-text.ts';
import { fromCaddyfile } from './caddyfile.ts';
import { fromKong } from './kong.ts';

export interface FileFlags {
  readonly caddyfile?: string;
  readonly kong?: string;
}

/** Writes the configuration of another program as a file for `gatehouse apply`, with comments for what does not map. */
export async function convertFile({ caddyfile, kong }: FileFlags, host: Host): Promise<void> {
  const path = caddyfile ?? kong ?? '';
  const text = await readText(path);
  const draft = caddyfile === undefined ? fromKong(text, path) : fromCaddyfile(text, path);
  host.stdout.write(draft.toYaml(path));
  const notTaken = draft.notTaken();
  if (notTaken.length === 0) return;
  host.stderr.write(['Not taken over, or not as it was:', ...notTaken.map((each) => `  ${each}`), ''].join('\n'));
  host.exitCode = exitCodes.incomplete;
}
