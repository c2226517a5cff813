import type { ApiOperation } from './operations.ts';

/** What members and bots may not do at all. Anything else is open to them: a new operation for admins is added here. */
export function isForAdmins({ method, path }: ApiOperation): boolean {
  return path === '/changes' || (method !== 'GET' && /^\/(bot_users|ip_restrictions)(\/|$)/.test(path));
}
