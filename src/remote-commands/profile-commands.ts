import { GatehouseClient } from '../../client/src/index.ts';
import type { Host } from '../command-line/host.ts';
import { firstProfile, profileNamed, profilesPath, readProfiles, writeProfiles } from '../config/profiles.ts';
import { forgetAgent, prepareAgent } from './agent-access.ts';
import { isLoopbackName } from './loopback.ts';
import { ask, askSecret, readLine } from './ask.ts';
import { CommandFault } from './exit.ts';
import { checkUrl, defaultUrl } from './server.ts';
import { formResult } from './show-result.ts';
import type { OutputFlags } from './show-result.ts';

interface ProfileFlags {
  readonly url?: string;
  readonly profile?: string;
}

/** Keeps a URL and a token once a call with them has succeeded. */
export async function runLogin(flags: ProfileFlags, host: Host): Promise<void> {
  const { stdin, stderr, env } = host;
  const name = flags.profile ?? firstProfile;
  if (!/^[\w.-]{1,64}$/.test(name) || name === '__proto__')
    throw new CommandFault(`the name ${JSON.stringify(name)} is not one of 1 to 64 letters, digits, ".", "_" and "-"`);
  const kept = await readProfiles(env);
  const url = checkUrl(
    flags.url ?? (stdin.isTTY ? (await ask(host, `URL of the API [${defaultUrl}]: `)) || defaultUrl : defaultUrl),
  );
  const { protocol, hostname } = new URL(url);
  if (protocol === 'http:' && !isLoopbackName(hostname))
    stderr.write(`warning: ${url} is not encrypted: everybody on the way can read the token\n`);
  const token = (stdin.isTTY ? await askSecret(host, 'Token of an API key: ') : await readLine(stdin)).trim();
  if (token === '') throw new CommandFault('no token was given: nothing is kept');
  const client = new GatehouseClient({ url, token });
  await client.call('ApiKeysList', { query: { limit: 1 } });
  const before = Object.hasOwn(kept.profiles, name) ? kept.profiles[name] : undefined;
  const agent = await prepareAgent(client, before?.url === url ? before.agent : undefined, stderr);
  const profile = { url, token, ...(agent === undefined ? {} : { agent }) };
  await writeProfiles(env, { current: name, profiles: { ...kept.profiles, [name]: profile } });
  host.stdout.write(`Signed in to ${url}. It is kept as the profile "${name}" in ${profilesPath(env)}\n`);
  if (agent !== undefined)
    host.stdout.write('To give the program on port 3000 a public address, run: gatehouse http 3000\n');
}

export async function runLogout(flags: ProfileFlags, { env, stdout, stderr }: Host): Promise<void> {
  const kept = await readProfiles(env);
  const name = flags.profile ?? kept.current;
  const { url, token, agent } = profileNamed(kept, name);
  const { [name]: _forgotten, ...profiles } = kept.profiles;
  const current = name === kept.current ? (Object.keys(profiles)[0] ?? firstProfile) : kept.current;
  await writeProfiles(env, { current, profiles });
  if (agent !== undefined) await forgetAgent(new GatehouseClient({ url, token }), agent, stderr);
  stdout.write(`The profile "${name}" for ${url} is forgotten.\n`);
}

export async function listProfiles(flags: OutputFlags, host: Host): Promise<void> {
  const { current, profiles } = await readProfiles(host.env);
  const rows = Object.entries(profiles).map(([name, { url }]) => ({ name, url, current: name === current }));
  host.stdout.write(await formResult(rows, flags, host));
}

export async function useProfile(name: string, { env, stdout }: Host): Promise<void> {
  const kept = await readProfiles(env);
  const { url } = profileNamed(kept, name);
  await writeProfiles(env, { ...kept, current: name });
  stdout.write(`Commands now go to ${url}.\n`);
}
