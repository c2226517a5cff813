import type { IncomingHttpHeaders } from 'node:http';

import { quote, UserError } from '../errors/user-error.ts';
import { versionMissing, versionNotSupported } from './errors.ts';
import type { HeaderName } from './vendor-words.ts';

const supportedVersion = '2';

/** Every name that is sent must have the supported value, and one must be sent. */
export function checkVersion(headers: IncomingHttpHeaders, names: readonly HeaderName[]): void {
  let seen = false;
  for (const { key, shown } of names) {
    const value = headers[key];
    if (value === undefined) continue;
    if (value !== supportedVersion) throw new UserError(versionNotSupported, { value: quote(value), header: shown });
    seen = true;
  }
  if (!seen) throw new UserError(versionMissing, { header: names[0]?.shown ?? '' });
}
