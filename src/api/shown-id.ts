import { quote } from '../errors/user-error.ts';
import { isOfOtherKind } from '../lib/ids.ts';

/** An id that names nothing, as the message says it: one of another kind is told by its beginning. */
export function shownId(id: string | undefined, prefix: string): string {
  const isOther = id !== undefined && isOfOtherKind(id, prefix);
  return isOther ? `${quote(id)} (such ids begin with "${prefix}_")` : quote(id);
}
