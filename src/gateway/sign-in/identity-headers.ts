import { keepPairs } from '../../lib/header-list.ts';
import { foldName } from '../../lib/http-syntax.ts';
import type { VisitorIdentity } from '../../modules/sign-in.ts';

/** Start of the names by which upstreams are told who a visitor is; nobody else may set such headers. */
export const identityPrefix = 'gatehouse-user-';

/** Values are ASCII: other characters, and "%", are percent-encoded UTF-8. */
export function identityHeaders({ subject, email, name, groups, emailVerified }: VisitorIdentity): readonly string[] {
  return [
    ['Gatehouse-User-Id', subject],
    ['Gatehouse-User-Email', email],
    ['Gatehouse-User-Email-Verified', email === undefined ? undefined : String(emailVerified)],
    ['Gatehouse-User-Name', name],
    [
      'Gatehouse-User-Groups',
      groups.length === 0 ? undefined : groups.map((group) => encode(group, /[^!-~]|[%,]/gu)).join(','),
    ],
  ].flatMap(([header = '', value]) =>
    value === undefined ? [] : [header, header.endsWith('Groups') ? value : encode(value)],
  );
}

function encode(text: string, odd = /[^ -~]|%/gu): string {
  return text.replaceAll(odd, (character) => encodeURIComponent(character.toWellFormed()));
}

/** The headers with these facts in place of any that a rule of the route has put there. */
export function withIdentity(headers: readonly string[], facts: readonly string[]): readonly string[] {
  // Most names are told apart by their first letter, which no other spelling changes.
  const isFact = (name: string) => /^g/i.test(name) && foldName(name.toLowerCase()).startsWith(identityPrefix);
  return [...keepPairs(headers, (name) => !isFact(name)), ...facts];
}
