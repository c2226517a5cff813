import type { TSchema } from 'typebox';

import { quote } from '../../../errors/user-error.ts';
import type { EventTarget } from '../../../events/event.ts';
import type { EventSettings } from '../../resource.ts';
import type { StoredTarget } from '../table.ts';

type Name = keyof StoredTarget;
export type Kept<Of extends Name> = NonNullable<StoredTarget[Of]>;

export interface Accepted<Of extends Name> {
  readonly kept: Kept<Of>;
  /** Undefined: what is sealed already stays. */
  readonly secret: unknown;
}

/** One kind of places where events are sent. */
export interface TargetKind<Of extends Name, Given> {
  /** What callers give. */
  readonly input: TSchema;
  /** What they are shown. */
  readonly view: TSchema;
  /** Throws what is wrong with it. `previous`: what the destination has, if it is of this kind. */
  accept(given: Given, previous: Kept<Of> | undefined, settings: EventSettings): Accepted<Of>;
  open(kept: Kept<Of>, secret: unknown, settings: EventSettings): EventTarget;
}

/** Why events cannot be sent to a URL of this form. */
export function faultOfUrl(given: string, protocols: readonly string[]): string | undefined {
  const parsed = URL.parse(given);
  if (parsed === null) return `${quote(given)} is not a URL`;
  if (!protocols.includes(parsed.protocol))
    return `it must begin with ${protocols.map((each) => `${each}//`).join(' or ')}`;
  if (parsed.username !== '' || parsed.password !== '') return 'it must have no user or password';
  return parsed.hash === '' ? undefined : 'it must have no fragment';
}
