import { nameOfInstallation, wildcardOverSuffix } from '../errors/shared.ts';
import { UserError } from '../errors/user-error.ts';
import { isPublicSuffix } from '../lib/public-suffix.ts';
import { parentOf } from './hostname-holders.ts';
import { listShort } from './references.ts';

/** A host name of the installation itself. One that starts with `*.` stands for all names one label below. */
export interface OwnName {
  readonly name: string;
  /** The setting that says so. */
  readonly setting: string;
  /** True for a wildcard of which accounts may have single names, as below the domain of agents. */
  readonly isShared?: boolean;
}

/** The host names that belong to the installation, and those that no account may have. */
export class OwnNames {
  readonly #names: readonly OwnName[];

  constructor(names: readonly OwnName[]) {
    this.#names = names;
  }

  /** Condition for rows that may have a host name which no account may have, and its parameters. */
  get candidates(): { readonly sql: string; readonly values: readonly string[] } {
    const names = this.#names.map(({ name }) => name);
    const parents = this.#names.filter(({ name, isShared }) => name.startsWith('*.') && isShared !== true);
    const values = [...names, ...parents.map(({ name }) => parentOf(name))];
    const marks = values.map((_, at) => `$${at + 1}`);
    const [exact, below] = [marks.slice(0, names.length), marks.slice(names.length)];
    const isBelow = below.length === 0 ? '' : ` OR parent IN (${below.join(', ')})`;
    return { sql: `hostname LIKE '*.%' OR hostname IN (${exact.join(', ')})${isBelow}`, values };
  }

  /** The name of the installation that a host name is, covers as a wildcard, or is covered by. */
  find(hostname: string): OwnName | undefined {
    const parent = parentOf(hostname);
    return this.#names.find(({ name, isShared = false }) => {
      if (name === hostname) return true;
      if (hostname.startsWith('*.')) return !name.startsWith('*.') && parentOf(name) === parent;
      return !isShared && name === `*.${parent}`;
    });
  }

  /** The refusal of a host name that no account may have; undefined for any other. */
  async refusalOf(hostname: string): Promise<UserError | undefined> {
    const own = this.find(hostname);
    if (own !== undefined) {
      const { name, setting } = own;
      const all = listShort([...new Set(this.#names.map((each) => each.name))]);
      return new UserError(nameOfInstallation, { hostname, name, setting, all });
    }
    const suffix = parentOf(hostname);
    const isTooWide = hostname.startsWith('*.') && (await isPublicSuffix(suffix));
    return isTooWide ? new UserError(wildcardOverSuffix, { hostname, suffix }) : undefined;
  }

  /** Throws for a host name that no account may have. */
  async check(hostname: string): Promise<void> {
    const refusal = await this.refusalOf(hostname);
    if (refusal !== undefined) throw refusal;
  }
}
