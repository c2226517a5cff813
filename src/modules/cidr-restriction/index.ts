import { Type } from 'typebox';
import type { Static } from 'typebox';

import { defineError, quote, UserError } from '../../errors/user-error.ts';
import { CidrSet, packCidrs } from '../../lib/ip/cidr-set.ts';
import { parseCidr } from '../../lib/ip/cidr.ts';
import { addressStep } from '../address-step.ts';
import { moduleInput, moduleView } from '../module.ts';
import type { EdgeModule } from '../module.ts';

const invalidModuleCidr = defineError(
  20154,
  400,
  'The IP restriction of the endpoint holds {cidr}, which is not a CIDR: it {reason}. Give one such as 203.0.113.0/24.',
);

const cidrs = Type.Array(Type.String(), { maxItems: 1000 });

const Input = moduleInput('CidrRestriction', { allow: Type.Optional(cidrs), deny: Type.Optional(cidrs) });

const View = moduleView('CidrRestriction', { allow: cidrs, deny: cidrs });

interface CidrRestrictionSettings {
  readonly enabled: boolean;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

const allowFlag = 1;
const denyFlag = 2;

/** Admits by CIDRs of its own. The verdict is that of IP policies: some must allow the address, and none deny it. */
export const cidrRestriction: EdgeModule<Static<typeof Input>, CidrRestrictionSettings> = {
  name: 'cidr_restriction',
  title: 'CIDR Restriction',
  targets: ['agent_endpoint'],
  input: Input,
  view: View,
  errors: [invalidModuleCidr],
  accept({ enabled = true, allow = [], deny = [] }) {
    return { enabled, allow: allow.map(canonical), deny: deny.map(canonical) };
  },
  present: (settings) => settings,
  build({ allow, deny }) {
    const rules = new CidrSet(
      packCidrs([
        ...allow.map((text) => ({ cidr: parse(text).cidr, flags: allowFlag })),
        ...deny.map((text) => ({ cidr: parse(text).cidr, flags: denyFlag })),
      ]),
    );
    return { steps: [addressStep(({ source }) => rules.lookup(source) === allowFlag, [])] };
  },
};

function canonical(text: string): string {
  return parse(text).canonical;
}

function parse(text: string) {
  const parsed = parseCidr(text);
  if (!parsed.ok) throw new UserError(invalidModuleCidr, { cidr: quote(text), reason: parsed.reason });
  return parsed;
}
