import { hash } from 'node:crypto';

import { comparableEmail, domainOf } from '../lib/email-address.ts';

/** How the network a visitor comes from and the login go together. */
export type NetworkRule = 'any' | 'or_login' | 'and_login';

/** Visitors whom the policies allow need no login, or are the only ones who may sign in. */
export interface TrustedNetwork {
  readonly rule: Exclude<NetworkRule, 'any'>;
  readonly policyIds: readonly string[];
}

/** A program that visitors sign in with, and the client that this installation is to it. */
export interface SignInProvider {
  /** As people know it: `oidc`, or that of a named provider. */
  readonly name: string;
  /** The URL that the provider is known by; that of its metadata, where it has some. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly scopes: readonly string[];
  /** The claim that says which groups somebody is in. */
  readonly groupsClaim: string;
  /** Ways in which a provider is not as the standard says; undefined: none. */
  readonly differs?: ProviderDifferences | undefined;
  /** Set where the client stands in vaults: makes both of what these have now. Throws where one is missing. */
  readonly clientFrom?: ClientFromVaults | undefined;
}

export type ClientFromVaults = (
  accountId: string,
  secrets: { get(accountId: string, vault: string, name: string): string | undefined },
) => { readonly clientId: string; readonly clientSecret: string };

export interface ProviderDifferences {
  /** Addresses of a provider that has no metadata and no signed claims. */
  readonly oauth2?: {
    readonly authorize: string;
    readonly token: string;
    /** Where a profile is read with the token, and the field of it that is the id of the person. */
    readonly profile: string;
    readonly subject: string;
    /** Lists about the same person that are read beside it, by the name of the claim that they become. */
    readonly lists?: Readonly<Record<string, string>>;
  };
  /** The provider does not put the nonce into its claims. */
  readonly noNonce?: true;
  /** The provider refuses proofs of PKCE from clients with a secret. */
  readonly noPkce?: true;
  /** Further parameters of the request for a login. */
  readonly parameters?: Readonly<Record<string, string>>;
}

/** Facts that are known of a visitor who has signed in. */
export interface VisitorIdentity {
  readonly subject: string;
  readonly email: string | undefined;
  readonly emailVerified: boolean;
  readonly name: string | undefined;
  readonly groups: readonly string[];
  /** There are more than were kept, of which those that a rule names come first. */
  readonly hasMoreGroups?: true;
  /** Claims that rules name; one that nobody has asked for at the login is not among them. */
  readonly claims: Readonly<Record<string, KeptClaim>>;
}

/** Values of a claim. Cookies of older releases hold a list, of which nobody knows whether it is whole. */
export type KeptClaim = readonly string[] | { readonly values: readonly string[]; readonly isWhole: boolean };

/** Who may enter: one match of an address, a domain or a group is enough, and each claim must match beside it. */
export interface EntryRules {
  readonly emails: ReadonlySet<string>;
  readonly domains: ReadonlySet<string>;
  readonly groups: ReadonlySet<string>;
  readonly claims: readonly (readonly [name: string, values: ReadonlySet<string>])[];
  readonly unverifiedEmail: boolean;
}

/** A login that a route asks its visitors for. */
export interface SignIn {
  /** The same for all routes with the same provider and client: those of one edge share sessions. */
  readonly key: string;
  readonly provider: SignInProvider;
  readonly cookiePrefix: string;
  readonly optionsPassthrough: boolean;
  /** 0: no limit. */
  readonly inactivitySeconds: number;
  readonly maximumSeconds: number;
  /** 0: never. */
  readonly checkSeconds: number;
  readonly mayEnter: EntryRules;
  /** Undefined: the network does not matter. */
  readonly network: TrustedNetwork | undefined;
  readonly upstreamToken: boolean;
  /** True: the token that the provider has signed is kept with the session. */
  readonly keepsIdToken?: () => boolean;
}

/** A session of a visitor at an edge. Times are in seconds since 1970. */
export interface VisitorSession {
  readonly id: string;
  readonly accountId: string;
  readonly edgeId: string;
  readonly routeId: string;
  /** Host, and port where it is not the usual one. */
  readonly host: string;
  readonly provider: { readonly name: string; readonly url: string };
  readonly subject: string;
  readonly email: string | undefined;
  readonly name: string | undefined;
  readonly groups: readonly string[];
  readonly source: string;
  readonly userAgent: string;
  readonly signedInAt: number;
  readonly seenAt: number;
  /** If it is not used before. */
  readonly expiresAt: number;
  /** However much it is used. */
  readonly endsAt: number;
}

/** A session that has ended before its time. */
export type LeftSession = Pick<
  VisitorSession,
  'id' | 'accountId' | 'edgeId' | 'provider' | 'subject' | 'signedInAt' | 'endsAt'
>;

/** Name of a person of an account, as far as a provider tells people apart. */
export function personOf(accountId: string, providerUrl: string, subject: string): string {
  return `person_${hash('sha256', JSON.stringify([accountId, providerUrl, subject]), 'base64url').slice(0, 27)}`;
}

/** Tokens that requests must carry. */
export interface TokenRule {
  /** The same for all rules that are alike. */
  readonly key: string;
  readonly issuer: string;
  /** Undefined: the audience does not matter. */
  readonly audiences: readonly string[] | undefined;
  /** The type that the header of a token must name; undefined: any. */
  readonly type?: string | undefined;
  readonly algorithms: readonly string[];
  /** Empty: where the metadata of the issuer say. */
  readonly jwksUri: string;
  readonly skewSeconds: number;
  /** Lower case. */
  readonly header: string;
  readonly claims: readonly (readonly [name: string, values: ReadonlySet<string>])[];
}

/** `unknown`: a claim, or a group of many, was not asked for when the visitor signed in, so that only a new login can tell. */
export function judgeVisitor(rules: EntryRules, visitor: VisitorIdentity): 'enters' | 'refused' | 'unknown' {
  const { emails, domains, groups, claims } = rules;
  for (const [name, values] of claims) {
    const own = visitor.claims[name];
    if (own === undefined) return 'unknown';
    const { values: known, isWhole } = 'isWhole' in own ? own : { values: own, isWhole: false };
    if (!known.some((value) => values.has(value))) return isWhole ? 'refused' : 'unknown';
  }
  if (emails.size === 0 && domains.size === 0 && groups.size === 0) return 'enters';
  if (visitor.groups.some((group) => groups.has(group))) return 'enters';
  if (visitor.email !== undefined && (visitor.emailVerified || rules.unverifiedEmail)) {
    if (emails.has(comparableEmail(visitor.email))) return 'enters';
    const domain = domainOf(visitor.email);
    if (domain !== undefined && domains.has(domain)) return 'enters';
  }
  return groups.size > 0 && visitor.hasMoreGroups === true ? 'unknown' : 'refused';
}
