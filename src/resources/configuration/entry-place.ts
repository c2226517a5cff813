import { quote, UserError } from '../../errors/user-error.ts';

export interface EntryPlace {
  readonly kind: string;
  readonly name: string;
}

/** Names an entry in messages: `static_backends "app"`; any value that stands in its place is named as far as it can be. */
export function placeOf(entry: unknown): string {
  const { kind, name } = (typeof entry === 'object' && entry !== null ? entry : {}) as Readonly<
    Record<string, unknown>
  >;
  return `${typeof kind === 'string' ? kind : 'an entry without a kind'} ${quote(name ?? '')}`;
}

/** Runs a step for an entry; a fault of the caller's then says which entry it is about, with its own code and status. */
export async function atPlace<T>(entry: EntryPlace, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (error) {
    throw error instanceof UserError ? error.at(placeOf(entry)) : error;
  }
}
