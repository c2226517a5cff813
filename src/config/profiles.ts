import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { configFolder } from '../lib/config-folder.ts';
import { readPrivateFile } from '../lib/private-file.ts';

/** A server, the token of an API key for it, and what agents need to connect. */
export interface Profile {
  readonly url: string;
  readonly token: string;
  /** Absent where the server takes no agents, or the key may not connect any. */
  readonly agent?: AgentAccess;
}

export interface AgentAccess {
  /** Where agents connect, as host:port. */
  readonly server: string;
  /** The authority of the server; absent for a certificate that Node trusts. */
  readonly fingerprint?: string;
  readonly authtoken: string;
  readonly credential_id: string;
}

/** A file of profiles that cannot be used, or a profile that is not in it; its message says what to do. */
export class ProfileFault extends Error {
  override readonly name = 'ProfileFault';
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
    throw new ProfileFault(`${path} is not a file of profiles: correct it, or delete it and run "gatehouse login"`);
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
    throw new ProfileFault(`${path} cannot be written: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The profile that is named, else the current one; undefined where there is none yet. */
export async function findProfile(named: string | undefined, env: Environment): Promise<Profile | undefined> {
  const profiles = await readProfiles(env);
  if (named !== undefined) return profileNamed(profiles, named);
  return Object.hasOwn(profiles.profiles, profiles.current) ? profiles.profiles[profiles.current] : undefined;
}

export function profileNamed({ profiles }: Profiles, name: string): Profile {
  const found = Object.hasOwn(profiles, name) ? profiles[name] : undefined;
  if (found !== undefined) return found;
  const names = Object.keys(profiles).join(', ') || 'none';
  throw new ProfileFault(
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
    (each) => isObject(each) && areTexts(each, ['url', 'token']) && isAgentAccess(each['agent']),
  );
  // Each field has been looked at.
  return isWhole ? (value as unknown as Profiles) : undefined;
}

function isAgentAccess(value: unknown): boolean {
  if (value === undefined) return true;
  if (!isObject(value) || !areTexts(value, ['server', 'authtoken', 'credential_id'])) return false;
  return value['fingerprint'] === undefined || typeof value['fingerprint'] === 'string';
}

function areTexts(value: Readonly<Record<string, unknown>>, names: readonly string[]): boolean {
  return names.every((name) => typeof value[name] === 'string');
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
