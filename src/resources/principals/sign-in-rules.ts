import type { Role } from '../../api/admission/roles.ts';
import { roles } from '../../api/admission/roles.ts';
import { domainOf } from '../../lib/email-address.ts';
import type { Person } from '../../sign-in/claims.ts';
import type { SignInRule } from '../resource.ts';

/** A rule whose account is known. */
export interface AccountRule extends SignInRule {
  readonly accountId: string;
}

/** What rules give somebody in an account. */
export interface GivenRole {
  readonly role: Role;
  /** A group gives it, or a higher one. */
  readonly byGroup: boolean;
}

/** True for a rule that is about this person. An address counts only if the provider has verified it. */
export function matches({ kind, name }: SignInRule, { groups, email, emailVerified }: Person): boolean {
  if (kind === 'group') return groups.includes(name);
  return emailVerified && email !== undefined && domainOf(email) === name;
}

/** The highest role that the rules give; undefined where none is about the person. */
export function roleIn(rules: readonly AccountRule[], person: Person, accountId: string): GivenRole | undefined {
  const matching = rules.filter((rule) => rule.accountId === accountId && matches(rule, person));
  // Roles are listed from the highest to the lowest.
  const role = roles.find((each) => matching.some((rule) => rule.role === each));
  return role && { role, byGroup: matching.some(({ kind }) => kind === 'group') };
}
