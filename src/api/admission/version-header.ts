import type { IncomingHttpHeaders } from 'node:http';

import { quote, UserError } from '../../errors/user-error.ts';
import { versionMissing, versionNotSupported } from '../errors.ts';
import type { HeaderName } from '../http/vendor-words.ts';

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
  if (!seen) throw new UserError(versionMissing, { remedy: remedyFor(headers, names) });
}

/** An official client of the hosted service sends the vendor's own header, which is known by a setting only. */
function remedyFor(headers: IncomingHttpHeaders, names: readonly HeaderName[]): string {
  const send = `Send "${names[0]?.shown ?? ''}: ${supportedVersion}".`;
  const [, word] =
    Object.entries(headers)
      .filter(([, value]) => value === supportedVersion)
      .map(([name]) => /^([a-z][a-z0-9]*)-version$/.exec(name))
      .find((match) => match !== null) ?? [];
  if (word === undefined) return send;
  const header = `${word.charAt(0).toUpperCase()}${word.slice(1)}-Version`;
  return `The header ${header} is not known here: start Gatehouse with GATEHOUSE_VENDOR=${word}, or s${send.slice(1)}`;
}
