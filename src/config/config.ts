import { acmeFaults } from './acme-settings.ts';
import { agentVariables } from './agent-variables.ts';
import { eventFaults } from './event-settings.ts';
import { nearestName } from '../lib/nearest-name.ts';
import { oidcFaults } from './oidc-settings.ts';
import { remoteVariables } from './remote-variables.ts';
import { pairFaults, roleFaults } from './roles.ts';
import { settings } from './settings.ts';
import type { Setting } from './setting.ts';

export type Config = { readonly [Name in keyof typeof settings]: ReturnType<(typeof settings)[Name]['read']> };

/** Everything that is wrong with the settings, at once. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`The settings are not acceptable:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`);
    this.faults = faults;
  }
}

/** Texts by the name of their setting. */
export type Flags = { readonly [Name in keyof Config]?: string | undefined };

/** Reads every setting: its flag, else its environment variable, else its default. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>, flags: Flags): Config {
  const faults = unknownVariables(environment);
  const values = describeSettings().map(({ name, flag, variable, fallback }) => {
    // An empty variable is how shells and unit files leave one unset.
    const [text, source] =
      flags[name] === undefined ? [environment[variable] || fallback, variable] : [flags[name], flag];
    const { read, secret = false }: Setting<unknown> = settings[name];
    try {
      return [name, read(text)] as const;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      faults.push(`${source}${secret ? '' : ` ${JSON.stringify(text)}`}: ${reason}`);
      return [name, undefined] as const;
    }
  });
  if (faults.length > 0) throw new ConfigError(faults);
  // Each value was read by the setting of its own name.
  const config = Object.freeze(Object.fromEntries(values)) as Config;
  const conflicts = [
    ...roleFaults(config),
    ...pairFaults(config),
    ...acmeFaults(config),
    ...oidcFaults(config),
    ...eventFaults(config),
  ];
  if (conflicts.length > 0) throw new ConfigError(conflicts);
  return config;
}

export interface SettingDescription {
  readonly name: keyof Config;
  /** `--api-listen` */
  readonly flag: string;
  /** `GATEHOUSE_API_LISTEN` */
  readonly variable: string;
  readonly form: string;
  readonly help: string;
  /** Empty where there is no default. */
  readonly fallback: string;
}

export function describeSettings(): readonly SettingDescription[] {
  // The names of the entries are those of the object they come from.
  const entries = Object.entries<Setting<unknown>>(settings) as [keyof Config, Setting<unknown>][];
  return entries.map(([name, { form, help, fallback = '' }]) => {
    const words = name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const variable = variablePrefix + words.replaceAll('-', '_').toUpperCase();
    return { name, flag: `--${words}`, variable, form, help, fallback };
  });
}

const variablePrefix = 'GATEHOUSE_';

/** A fault for each variable that only looks like a setting: a misspelt one would change nothing, and nobody would notice. */
function unknownVariables(environment: Readonly<Record<string, string | undefined>>): string[] {
  const known = describeSettings().map(({ variable }) => variable);
  // Such variables may be set for everything that is started in one shell.
  const others = new Set<string>([...Object.values(agentVariables), ...Object.values(remoteVariables)]);
  return Object.keys(environment)
    .filter((name) => name.startsWith(variablePrefix) && !known.includes(name) && !others.has(name))
    .map((name) => {
      const meant = nearestName(name, known);
      return `${name} is not a setting${meant === undefined ? '; --help lists them all' : `. Did you mean ${meant}?`}`;
    });
}
