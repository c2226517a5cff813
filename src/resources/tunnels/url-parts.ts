import { quote, UserError } from '../../errors/user-error.ts';
import { urlPartRefused } from './errors.ts';

const urlPattern = /^[^:/?#]+:\/\/(?:([^/?#@]*)@)?[^/?#]*(?:\/([^?#]*))?(?:\?([^#]*))?(?:#([^]*))?$/;
const names = ['user', 'path', 'query', 'fragment'] as const;

/** Throws for a URL with more than a scheme, a host, a port and a slash at its end. */
export function checkUrlParts(asked: string): void {
  const parts = urlPattern.exec(asked)?.slice(1) ?? [];
  for (const [index, name] of names.entries()) {
    const part = parts[index] ?? '';
    if (part !== '') throw new UserError(urlPartRefused, { url: quote(asked), name, part: quote(part) });
  }
}
