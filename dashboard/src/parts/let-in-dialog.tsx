import { useState } from 'react';
import { Link } from 'wouter';

import type { IpPolicy } from '../../../client/src/index.ts';
import { fieldOfError } from '../api/field-errors.ts';
import { useChange, useList } from '../api/queries.ts';
import { Banner } from '../components/banner.tsx';
import { FormDialog } from '../components/form-dialog.tsx';
import { descriptionBytes, SelectField, TextField } from '../components/field.tsx';
import { toast } from '../components/toast.tsx';
import { rangeOfAddress } from '../lib/address.ts';
import { nameOf } from '../lib/text.ts';
import { ruleErrors } from './rule-errors.ts';

/** Lets an address in: adds an allow rule to a policy that counts at the door. */
export function LetInDialog({
  ip,
  policyIds,
  denyingRule,
  onClose,
}: {
  readonly ip: string;
  readonly policyIds: readonly string[];
  /** A deny rule that contains the address; it wins over every allow rule. */
  readonly denyingRule?: { readonly cidr: string; readonly policyId: string } | undefined;
  readonly onClose: () => void;
}) {
  const { data: policies = [] } = useList('IpPoliciesList');
  const [policyId, setPolicyId] = useState(policyIds[0] ?? '');
  const [cidr, setCidr] = useState(rangeOfAddress(ip) ?? ip);
  const [description, setDescription] = useState('');
  const change = useChange('IpPolicyRulesCreate');
  const field = change.error === undefined ? undefined : fieldOfError(change.error, { cidr, description }, ruleErrors);
  const submit = async (options: { allowLockout?: boolean } = {}): Promise<void> => {
    const body = { ip_policy_id: policyId, cidr, action: 'allow', description } as const;
    if ((await change.run({ body, ...options })) === undefined) return;
    toast(`Allowed ${cidr} in ${policyName(policies, policyId)}.`);
    onClose();
  };
  return (
    <FormDialog
      title={`Let ${ip} in?`}
      act="Add the allow rule"
      cancel="Keep it out"
      keepsFirst
      isPending={change.isPending}
      error={field === undefined ? change.error : undefined}
      onSubmit={() => void submit()}
      onOverride={() => void submit({ allowLockout: true })}
      onClose={onClose}
    >
      {denyingRule === undefined ? null : (
        <Banner
          tone="warn"
          note={
            <>
              Take it out of{' '}
              <Link to={`/ip-policies/${denyingRule.policyId}`}>{policyName(policies, denyingRule.policyId)}</Link>{' '}
              first.
            </>
          }
        >
          <code>{denyingRule.cidr}</code> denies it, and a deny rule wins over every allow rule.
        </Banner>
      )}
      <SelectField
        label="IP policy"
        value={policyId}
        onChange={setPolicyId}
        options={policyIds.map((id) => [id, policyName(policies, id)] as const)}
        hint="Whatever else uses this policy lets the range in as well."
      />
      <TextField
        label="Range"
        mono
        value={cidr}
        onChange={setCidr}
        hint="This one address, unless you widen it."
        error={field === 'cidr' ? change.error?.message : undefined}
      />
      <TextField
        label="Description"
        note="optional"
        value={description}
        onChange={setDescription}
        limitBytes={descriptionBytes}
        hint="Who comes from there."
        error={field === 'description' ? change.error?.message : undefined}
      />
    </FormDialog>
  );
}

function policyName(policies: readonly IpPolicy[], id: string): string {
  return nameOf(policies.find((policy) => policy.id === id) ?? { id });
}
