import type { User } from '../../../../client/src/index.ts';

export type Role = User['role'];

export const roles: readonly Role[] = ['admin', 'member', 'viewer'];

export const roleNames: Readonly<Record<Role, string>> = { admin: 'Admin', member: 'Member', viewer: 'Viewer' };

/** Says what a role may do, in a line. */
export const roleWords: Readonly<Record<Role, string>> = {
  admin: 'Everything, users included.',
  member:
    'Reads everything but the change log, changes edges, backends, policies and agents; own keys only. Restrictions and users stay with admins.',
  viewer: 'Reads what a member reads, changes nothing. Agents of a viewer are refused.',
};
