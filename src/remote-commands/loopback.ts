import { isIP } from 'node:net';

/** True for a host that is this machine itself, so that nothing leaves it. */
export function isLoopbackName(hostname: string): boolean {
  const name = hostname.replace(/^\[|\]$/g, '');
  if (isIP(name) === 0) return name === 'localhost' || name.endsWith('.localhost');
  return name === '::1' || name.startsWith('127.');
}
