import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { configFolder } from '../lib/config-folder.ts';
import { readPrivateFile } from '../lib/private-file.ts';
import { CommandFault } from './exit.ts';

/** A server and the token of an API key for it. */
export interface Profile {
  readonly url: string;
  readonly token: string;
}

export interface Profiles {
  /** Name of the profile that is used where none is named. */
  readonly current: string;
  readonly profiles: Readonly<Record<string, Profile>>;
}

type Environment = Readonly<Record<string, string | undefined>>;

export const firstProfile = 'default';
const none: Profiles = { current: firstProfile, profiles: {} };

export function profilesPath(env: Environment): string {
  return join(configFolder(env), 'profiles.json');
}

/** Empty if there is no file. Throws for a file that others have rights on, or that has another form. */
export async function readProfiles(env: Environment): Promise<Profiles> {
  const path = profilesPath(env);
  const text = await readPrivateFile(path);
  if (text === undefined) return none;
  const value = parse(text);
  if (value === undefined)
    throw new CommandFault(`${path} is not a file of profiles: correct it, or delete it and run "gatehouse login"`);
  return value;
}

/** Replaces the file as a whole. It is readable for its owner alone before the first byte is in it. */
export async function writeProfiles(env: Environment, profiles: Profiles): Promise<void> {
  const path = profilesPath(env);
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const fresh = `${path}.${randomUUID()}`;
  try {
    await writeFile(fresh, `${JSON.stringify(profiles, undefined, 2)}\n`, { mode: 0o600, flag: 'wx' });
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true });
    throw new CommandFault(`${path} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
  }
}

export function profileNamed({ profiles }: Profiles, name: string): Profile {
  const found = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (found !== undefined) return found;
  const names = Object.keys(profiles).join(', ') || 'none';
  throw new CommandFault(
    `there is no profile ${JSON.stringify(name)} (there are: ${names}). Make it: gatehouse login --profile ${name}`,
  );
}

function parse(text: string): Profiles | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value) || typeof value['current'] !== 'string' || !isObject(value['profiles'])) return undefined;
  const isWhole = Object.values(value['profiles']).every(
    (each) => isObject(each) && typeof each['url'] === 'string' && typeof each['token'] === 'string',
  );
  // Each field has been looked at.
  return isWhole ? (value as unknown as Profiles) : undefined;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
