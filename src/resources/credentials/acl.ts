import { quote, UserError } from '../../errors/user-error.ts';
import { parseHostname, parseHostPort } from '../../lib/host-port.ts';
import { invalidAclRule, tooManyAclRules } from './errors.ts';

/** One rule, read. `*` as the key or value of a label stands for any. */
export type AclRule =
  | { readonly form: 'any' }
  | { readonly form: 'name'; readonly name: string }
  /** Every name below it, and the wildcard name itself. */
  | { readonly form: 'below'; readonly parent: string }
  | { readonly form: 'address'; readonly host: string; readonly port: number }
  | { readonly form: 'label'; readonly key: string; readonly value: string };

const ruleLimit = 100;
const ruleBytes = 512;
const action = 'bind:';

/** Throws for the first rule that cannot be read. */
export function acceptAcl(acl: readonly string[]): readonly string[] {
  if (acl.length > ruleLimit) throw new UserError(tooManyAclRules, { count: acl.length, limit: ruleLimit });
  for (const text of acl) {
    const rule = readRule(text);
    if (typeof rule === 'string') throw new UserError(invalidAclRule, { rule: quote(text), reason: rule });
  }
  return acl;
}

/** Names and ports that an agent may bind. Rules are a union; no rule at all allows everything. */
export class Acl {
  readonly texts: readonly string[];
  readonly #rules: readonly AclRule[];

  /** Takes rules that were accepted before. */
  constructor(texts: readonly string[]) {
    this.texts = texts;
    this.#rules = texts.map((text) => {
      const rule = readRule(text);
      // Another form means that the database was changed by hand, or by a newer program: allowing nothing is safe.
      if (typeof rule === 'string') throw new Error(`the stored acl rule ${quote(text)} ${rule}`);
      return rule;
    });
  }

  /** `name` is in lower case and may start with `*.`. */
  allowsName(name: string): boolean {
    return this.#allows((rule) => {
      if (rule.form === 'name') return rule.name === name;
      return rule.form === 'below' && name.endsWith(`.${rule.parent}`);
    });
  }

  allowsAddress(host: string, port: number): boolean {
    return this.#allows((rule) => rule.form === 'address' && rule.host === host && rule.port === port);
  }

  /** Every label needs a rule: one label that is allowed must not bring others with it. */
  allowsLabels(labels: Readonly<Record<string, string>>): boolean {
    return Object.entries(labels).every(([key, value]) =>
      this.#allows(
        (rule) =>
          rule.form === 'label' &&
          (rule.key === '*' || rule.key === key) &&
          (rule.value === '*' || rule.value === value),
      ),
    );
  }

  #allows(fits: (rule: AclRule) => boolean): boolean {
    return this.#rules.length === 0 || this.#rules.some((rule) => rule.form === 'any' || fits(rule));
  }
}

/** The rule, or the reason why it is none. */
function readRule(text: string): AclRule | string {
  if (Buffer.byteLength(text) > ruleBytes) return `it is longer than ${ruleBytes} bytes`;
  if (text === '*') return { form: 'any' };
  if (!text.startsWith(action)) return 'it does not start with "bind:", the only action there is';
  const resource = text.slice(action.length);
  if (resource === '*') return { form: 'any' };
  if (resource.includes('=')) return readLabel(resource);
  if (resource.includes(':')) {
    const parsed = parseHostPort(resource);
    return parsed.ok ? { form: 'address', host: parsed.host, port: parsed.port } : `its address ${parsed.reason}`;
  }
  const name = parseHostname(resource, { wildcard: true });
  if (name === undefined) return 'it names no host name, address or label';
  return name.startsWith('*.') ? { form: 'below', parent: name.slice(2) } : { form: 'name', name };
}

function readLabel(text: string): AclRule | string {
  const at = text.indexOf('=');
  const key = text.slice(0, at);
  const value = text.slice(at + 1);
  if (key === '' || value === '') return 'a label has a key and a value, "key=value"; "*" stands for any';
  return { form: 'label', key, value };
}
