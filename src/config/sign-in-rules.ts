import { comparableEmail } from '../lib/email-address.ts';

const roles = ['admin', 'member', 'viewer'] as const;

/** Whoever is in the group, or has a verified address of the domain, is a user of the account with this role. */
export interface SignInRule {
  readonly kind: 'group' | 'domain';
  /** Domains are in lower case. */
  readonly name: string;
  readonly role: (typeof roles)[number];
  /** Id or name; undefined: the only account. */
  readonly account: string | undefined;
}

/** One rule: a name with commas or "=" stands in quotes. */
const form = /^(group|domain):("[^"]+"|[^"=,]+)=([a-z]+)(?:@("[^"]+"|[^"@]+))?$/;
const domainForm = /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+$/;
const example = 'write it as group:NAME=ROLE or domain:NAME=ROLE, such as group:platform-admins=admin';

export function readSignInRules(text: string): readonly SignInRule[] {
  // Commas inside quotes belong to a name.
  const parts = text.match(/(?:"[^"]*"|[^",])+|"/g) ?? [];
  const read = parts.map((part) => part.trim()).filter((part) => part !== '');
  const faults: string[] = [];
  const rules = read.flatMap((part) => {
    try {
      return [readRule(part)];
    } catch (error) {
      faults.push(`${JSON.stringify(part)}: ${error instanceof Error ? error.message : String(error)}`);
      return [];
    }
  });
  if (faults.length > 0) throw new Error(faults.join('; '));
  return rules;
}

function readRule(text: string): SignInRule {
  const [, kind, quoted = '', role, account] = form.exec(text) ?? [];
  if (kind !== 'group' && kind !== 'domain') throw new Error(example);
  const name = unquote(quoted);
  if (name === '') throw new Error(example);
  const known = roles.find((each) => each === role);
  if (known === undefined) throw new Error(`the role must be one of: ${roles.join(', ')}`);
  if (kind === 'domain' && !domainForm.test(comparableEmail(name)))
    throw new Error('a domain is written without "@", such as domain:example.com=viewer');
  return {
    kind,
    name: kind === 'domain' ? comparableEmail(name) : name,
    role: known,
    account: account === undefined ? undefined : unquote(account),
  };
}

function unquote(text: string): string {
  return text.trim().replace(/^"(.*)"$/, '$1');
}
