import { useMemo } from 'react';
import { Link } from 'wouter';

import type { IpPolicy } from '../../../../client/src/index.ts';
import { client } from '../../api/client.ts';
import { useSession } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Check } from '../../components/field.tsx';
import type { PageProps } from '../../components/page.tsx';
import { Badge, Verdict } from '../../components/verdict.tsx';
import { rangeOfAddress } from '../../lib/address.ts';
import { textHas } from '../../lib/filter.ts';
import { countOf, formatNumber, nameOf } from '../../lib/text.ts';
import { useUrlState } from '../../lib/url-state.ts';
import { pastRequests } from '../../parts/past-requests.ts';
import { Pictures } from '../../parts/pictures/pictures.tsx';
import { PolicyFindings } from '../../parts/rule-findings.tsx';
import { createdColumn, nameColumn } from '../../resource/columns.tsx';
import type { Resource, Shown } from '../../resource/describe.ts';
import { description, field, metadata } from '../../resource/fields.tsx';
import { ResourcePages } from '../../resource/lists.tsx';
import { standardFacts } from '../../resource/page.tsx';
import { canBeReverted, linesOf, stillUsed } from '../../resource/uses.tsx';
import { AddRule } from './add-rule.tsx';
import { PasteList } from './paste-list.tsx';
import { usePolicyUses } from './policy-uses.ts';
import type { PolicyUse } from './policy-uses.ts';
import { RuleTable } from './rule-table.tsx';
import { ruleCountText, useRuleCounts, useRules, useRuleTotals } from './use-rules.ts';

const path = '/ip-policies';

const policies: Resource<'IpPoliciesList'> = {
  list: 'IpPoliciesList',
  noun: ['policy', 'policies'],
  icon: 'list',
  path,
  what: 'IP policies',
  filterHint: 'Description or id',
  whenEmpty: [
    'No IP policies',
    'A policy names the addresses that may come in. A restriction or an edge then points to it.',
  ],
  Rows: ({ render }) => {
    const usesOf = usePolicyUses();
    const countOfRules = useRuleCounts();
    const rows = useMemo(
      () => ({
        columns: [
          nameColumn<IpPolicy>({
            id: 'description',
            head: 'Description',
            width: '38%',
            path,
            name: nameOf,
            sub: ({ id }) => <span className="sub m1">{usesLine(usesOf(id))}</span>,
          }),
          {
            id: 'rules',
            head: 'Rules',
            isNumber: true,
            sortBy: ({ id }: IpPolicy) => countOfRules(id)?.rules ?? -1,
            cell: ({ id }: IpPolicy) => ruleCountText(countOfRules(id)),
          },
          {
            id: 'uses',
            head: 'Used by',
            width: '40%',
            priority: 'p1' as const,
            cell: ({ id }: IpPolicy) => <Uses uses={usesOf(id)} />,
          },
          createdColumn<IpPolicy>(),
        ],
        searchFilter: textHas('description', 'id'),
      }),
      [usesOf, countOfRules],
    );
    return render(rows);
  },
  nameOf,
  fields: [
    description({
      form: 'create',
      startsFocused: true,
      hint: 'Whose addresses these are, such as “Offices and VPN”.',
    }),
    field<IpPolicy, boolean>({
      name: 'allows_me',
      start: true,
      form: 'create',
      toBody: () => ({}),
      Input: ({ value, onChange }) => {
        const { address } = useSession();
        return (
          <Check isOn={value} onChange={onChange}>
            Begin with a rule that allows your address, <code>{rangeOfAddress(address) ?? address}</code>
          </Check>
        );
      },
    }),
    description({ form: 'edit' }),
    metadata(),
  ],
  errors: { 1421: 'description', 604: 'description', 605: 'metadata' },
  create: {
    title: 'Create an IP policy',
    act: 'Create policy',
    said: () => 'Created the policy.',
    send: async (body, { allows_me: allowsMe }, _, { address }) => {
      const policy = await client.call('IpPoliciesCreate', { body });
      const cidr = rangeOfAddress(address);
      if (allowsMe === true && cidr !== undefined) {
        const rule = { cidr, ip_policy_id: policy.id, description: 'the address it was made from' };
        // The policy is there either way; its page shows that it has no rule.
        await client.call('IpPolicyRulesCreate', { body: { ...rule, action: 'allow' } }).catch(() => undefined);
      }
      return policy;
    },
  },
  badge: ({ id }) => <RuleCount policyId={id} />,
  lead: () => 'Deny wins over allow, whatever the order. What no rule allows is refused.',
  acts: ({ mayWrite }) => (mayWrite ? <Acts /> : undefined),
  facts: (policy) => [
    ['What it does', <WhatItDoes key="does" policyId={policy.id} />],
    ['Used by', <UsedBy key="uses" policyId={policy.id} />],
    ...standardFacts(policy),
  ],
  Body,
  deletesAnyState: true,
  Removal: ({ document, render }) => {
    const uses = usePolicyUses()(document.id);
    const count = useRuleTotals(document.id)?.all ?? 0;
    const lines = uses.map(({ to, name, note }) => ({
      id: to + name + note,
      tone: 'warn' as const,
      text: name,
      to,
      end: note,
    }));
    if (uses.length > 0) {
      return render({
        lost: 'It is in use, as you see below: without it, these would let in other addresses than now. Remove it from them first, then delete it.',
        uses: linesOf(lines),
        blocked: stillUsed(uses.length),
      });
    }
    return render({
      lost: `Nothing uses it. ${countOf(count, 'rule goes', 'rules go')} with it. ${count > revertedRules ? `This cannot be undone: the change log keeps at most ${formatNumber(revertedRules)} rules.` : canBeReverted}`,
      mustType: count > 0,
    });
  },
};

/** Rules of one change that the log keeps, if their texts are short. */
const revertedRules = 1_000;

export function Page({ id }: PageProps) {
  return (
    <ResourcePages
      resource={policies}
      id={id}
      title="IP policies"
      lead="A policy is a list of address ranges that may or may not come in. Restrictions, edges and keys point to it."
    />
  );
}

function Body({ document, mayWrite }: Shown<IpPolicy>) {
  const [params, setParams] = useUrlState();
  const rules = useRules(document.id);
  const usesOf = usePolicyUses();
  const close = (name: string) => () => setParams({ [name]: undefined });
  const isOpen = (name: string) => params.has(name) && mayWrite;
  return (
    <>
      <PolicyFindings policyId={document.id} />
      {usesOf(document.id).length === 0 ? null : (
        <Pictures
          of={{ policy: document.id }}
          title="Traffic where it decides"
          note="All that came where the policy decides, whatever let it in or refused it; of its restrictions, what these refused or warned of."
        />
      )}
      <RuleTable policy={document} rules={rules} mayWrite={mayWrite} onAdd={() => setParams({ add: '1' })} />
      {isOpen('add') ? <AddRule policy={document} rules={rules} onClose={close('add')} /> : null}
      {isOpen('paste') ? <PasteList policy={document} rules={rules} onClose={close('paste')} /> : null}
    </>
  );
}

function Acts() {
  const [, setParams] = useUrlState();
  const open = (name: string) => () => setParams({ [name]: '1' });
  return (
    <>
      <Button look="primary" icon="paste" onClick={open('paste')}>
        Paste a list
      </Button>
      <Button icon="plus" shortcut="c" onClick={open('add')}>
        Add rule
      </Button>
      <Button icon="edit" shortcut="e" aria-label="Edit the policy" onClick={open('edit')} />
      <Button look="danger-quiet" icon="trash" aria-label="Delete the policy" onClick={open('delete')} />
    </>
  );
}

function RuleCount({ policyId }: { readonly policyId: string }) {
  const totals = useRuleTotals(policyId);
  return totals === undefined ? null : <Badge>{countOf(totals.all, 'rule', 'rules')}</Badge>;
}

function WhatItDoes({ policyId }: { readonly policyId: string }) {
  const totals = useRuleTotals(policyId);
  if (totals === undefined) return null;
  return (
    <span className="row wrap">
      <Verdict tone="allow">{formatNumber(totals.allow)} allow</Verdict>
      <Verdict tone="deny">{formatNumber(totals.deny)} deny</Verdict>
    </span>
  );
}

function UsedBy({ policyId }: { readonly policyId: string }) {
  const uses = usePolicyUses()(policyId);
  if (uses.length === 0) return 'Nothing yet';
  return uses.slice(0, 5).map(({ to, name, note, refused }) => (
    <div key={to + name + note}>
      <Link to={to}>{name}</Link> <span className="muted">{note}</span>
      {refused === undefined ? null : (
        <>
          {' '}
          <Link className="muted" to={pastRequests({ ...refused, verdict: 'refused', range: 'day' })}>
            refused in the last day<span className="vh"> by {name}</span>
          </Link>
        </>
      )}
    </div>
  ));
}

function Uses({ uses: [first, ...rest] }: { readonly uses: readonly PolicyUse[] }) {
  if (first === undefined) return <span className="muted">Nothing</span>;
  return (
    <>
      <span className="main">{first.name}</span>
      <span className="sub">
        {first.note}
        {rest.length === 0 ? '' : `, and ${rest.length} more`}
      </span>
    </>
  );
}

/** Uses in one line, below the name on a narrow screen. */
function usesLine([first, ...rest]: readonly PolicyUse[]): string {
  if (first === undefined) return 'Used by nothing';
  return `Used by ${first.name}${rest.length === 0 ? '' : ` and ${rest.length} more`}`;
}
