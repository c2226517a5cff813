import { quote, UserError } from '../../errors/user-error.ts';
import { addressNotVerified, ruleWithoutAnswer } from './errors.ts';
import { findProvider, profileClaims, providerNames } from './providers.ts';
import type { ProviderName } from './providers.ts';

interface Rules {
  readonly provider: ProviderName;
  readonly organizations: readonly string[];
  readonly teams: readonly string[];
  readonly groups: readonly string[];
  readonly email_addresses: readonly string[];
  readonly email_domains: readonly string[];
  readonly claims: Readonly<Record<string, unknown>>;
  readonly unverified_email: boolean;
}

/**
 * Throws for a rule that the provider has no answer to. One match is enough to enter, so that such a rule would restrict
 * nothing beside another one, although it looks as if it did.
 */
export function checkRules(rules: Rules): void {
  const { provider: name, organizations, teams, groups, claims } = rules;
  const { tellsGroups, differs } = findProvider(name);
  const refuse = (field: string, what: string, able: string) => {
    throw new UserError(ruleWithoutAnswer, { field, provider: name, what, able });
  };
  if (name !== 'github' && organizations.length > 0)
    refuse(`provider.${name}.organizations`, 'organizations', 'github alone does');
  if (name !== 'github' && teams.length > 0) refuse(`provider.${name}.teams`, 'teams', 'github alone does');
  const telling = providerNames.filter((each) => findProvider(each).tellsGroups).join(', ');
  if (tellsGroups !== true && groups.length > 0) refuse('groups', 'groups', `those that do: ${telling}`);
  const known = profileClaims.filter((each) => each !== 'groups' || tellsGroups === true);
  const unknown = Object.keys(claims).find((each) => differs?.oauth2 !== undefined && !known.includes(each));
  if (unknown !== undefined) refuse('claims', `the claim ${quote(unknown)}`, `its claims: ${known.join(', ')}`);
  checkEmails(rules);
}

function checkEmails({ provider, unverified_email: isTrusted, ...rules }: Rules): void {
  if (isTrusted || findProvider(provider).verifiesEmail === true) return;
  const field = (['email_addresses', 'email_domains'] as const).find((each) => rules[each].length > 0);
  if (field !== undefined)
    throw new UserError(addressNotVerified, { field: `provider.${provider}.${field}`, provider });
}
