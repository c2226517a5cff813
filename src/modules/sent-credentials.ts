import { headerValues } from '../lib/header-list.ts';
import type { HeaderList } from './step.ts';

const scheme = /^basic +([A-Za-z0-9+/]+={0,2}) *$/i;

/** Name and password of basic authentication, with a colon between them. Two headers are none. */
export function sentCredentials(headers: HeaderList): Buffer | undefined {
  const [value, ...more] = headerValues(headers, 'authorization');
  const encoded = value === undefined || more.length > 0 ? undefined : scheme.exec(value)?.[1];
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64');
}
