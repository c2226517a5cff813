import type { ResourceContext } from './resource.ts';

/** A command of the host's own command line, for what the API must not do. It works on the database itself. */
export interface HostCommand {
  /** `accounts create` */
  readonly name: string;
  readonly summary: string;
  readonly options: readonly HostOption[];
  /** Answers what is printed. */
  run(context: ResourceContext, values: Readonly<Record<string, string | undefined>>): Promise<string>;
}

export interface HostOption {
  /** `--name <text>`, or `<id>` for a positional argument. */
  readonly flag: string;
  readonly description: string;
  readonly required: boolean;
  readonly choices?: readonly string[];
}
