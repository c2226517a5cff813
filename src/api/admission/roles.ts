/** Roles of users. Bots are members. */
export const roles = ['admin', 'member', 'viewer'] as const;
export type Role = (typeof roles)[number];
