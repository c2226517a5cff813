import { join } from 'node:path';

import { configFolder } from '../lib/config-folder.ts';
import { readPrivateFile } from '../lib/private-file.ts';
import { UsageFault } from './target.ts';

/** Settings of the agent that are kept in a file; all may be missing. */
export interface FileSettings {
  readonly server?: string;
  readonly ca?: string;
  /** SHA-256 of the certificate of the authority, in place of its file. */
  readonly fingerprint?: string;
  readonly authtoken?: string;
}

const names = ['server', 'ca', 'fingerprint', 'authtoken'] as const;
const form = '{"server": "host:port", "ca": "/path/to/ca.pem", "fingerprint": "sha256:…", "authtoken": "…"}';

export function settingsPath(environment: Readonly<Record<string, string | undefined>>): string {
  return join(configFolder(environment), 'agent.json');
}

/** Reads the file of settings; empty if there is none. Throws a `UsageFault` or a `PrivateFileFault`. */
export async function readSettingsFile(path: string): Promise<FileSettings> {
  const text = await readPrivateFile(path);
  if (text === undefined) return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UsageFault(`${path} is not JSON. Its form is ${form}`);
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new UsageFault(`${path} is not an object. Its form is ${form}`);
  for (const [name, each] of Object.entries(value)) {
    const isKnown = (names as readonly string[]).includes(name);
    if (!isKnown) throw new UsageFault(`${path} has ${JSON.stringify(name)}, which is no setting. Its form is ${form}`);
    if (typeof each !== 'string' || each === '') throw new UsageFault(`${name} in ${path} must be a text`);
  }
  return value;
}
