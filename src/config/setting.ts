/** One setting: an environment variable, a flag of the same name, a default. */
export interface Setting<T> {
  /** The form of its value, as the help shows it. */
  readonly form: string;
  readonly help: string;
  /** As it would be given. */
  readonly fallback?: string;
  readonly read: (text: string) => T;
  /** True if its value is not repeated when it is wrong. */
  readonly secret?: boolean;
}
