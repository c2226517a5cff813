import { useState } from 'react';

import { parseCidr } from '../../../../src/lib/ip/cidr.ts';
import type { IpPolicy } from '../../../../client/src/index.ts';
import { fieldOfError } from '../../api/field-errors.ts';
import { useChange } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { ButtonGroup } from '../../components/button.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { descriptionBytes, TextField } from '../../components/field.tsx';
import { toast } from '../../components/toast.tsx';
import { rangeOfAddress } from '../../lib/address.ts';
import { callOf, rehearse } from '../../parts/rehearsal/rehearse.ts';
import { policyWith } from '../../parts/rehearsal/rehearse-entries.ts';
import type { WantedRule } from '../../parts/rehearsal/rehearse-entries.ts';
import { useRehearsal } from '../../parts/rehearsal/use-rehearsal.tsx';
import { ruleErrors } from '../../parts/rule-errors.ts';
import type { Rule, Rules } from './use-rules.ts';

export function AddRule({
  policy,
  rules,
  onClose,
}: {
  readonly policy: IpPolicy;
  readonly rules: Rules;
  readonly onClose: () => void;
}) {
  const { address } = useSession();
  const [values, setValues] = useState<{ cidr: string; action: 'allow' | 'deny'; description: string }>({
    cidr: '',
    action: 'allow',
    description: '',
  });
  const change = useChange('IpPolicyRulesCreate');
  const field = change.error === undefined ? undefined : fieldOfError(change.error, values, ruleErrors);
  const set = (part: Partial<typeof values>): void => {
    change.reset();
    setValues((before) => ({ ...before, ...part }));
  };
  const bodyOf = () => ({ ...values, cidr: values.cidr.trim(), ip_policy_id: policy.id });
  const submit = async (options: { allowLockout?: boolean } = {}): Promise<void> => {
    const body = bodyOf();
    if ((await change.run({ body, ...options })) === undefined) return;
    toast(`Added ${values.action === 'allow' ? 'allow' : 'deny'} ${body.cidr}.`);
    onClose();
  };
  const rehearsal = useRehearsal({
    subject: JSON.stringify(values),
    what: 'This rule',
    rehearse: (signal) =>
      rehearse(callOf('IpPolicyRulesCreate', { body: bodyOf() }), signal, [
        policyWith(policy, withRule(rules.rules, values)),
      ]),
    save: (options) => void submit(options),
    isSaving: change.isPending,
    error: change.error,
  });
  // A text that is no range would not be saved; the server says so beside the field.
  const isRange = parseCidr(values.cidr.trim()).ok;
  return (
    <FormDialog
      title="Add a rule"
      act={isRange ? 'See who would notice' : 'Add rule'}
      missing={isRange && !rules.isComplete ? 'Reading the rules…' : undefined}
      beside={rehearsal.sheet}
      isPending={change.isPending}
      error={field === undefined ? change.error : undefined}
      onSubmit={isRange ? rehearsal.open : () => void submit()}
      onOverride={() => void submit({ allowLockout: true })}
      onClose={onClose}
    >
      <TextField
        label="CIDR"
        mono
        startsFocused
        value={values.cidr}
        onChange={(cidr) => set({ cidr })}
        placeholder="203.0.113.0/24"
        error={field === 'cidr' ? change.error?.message : undefined}
        hint={<CidrHint text={values.cidr.trim()} mine={rangeOfAddress(address)} onUse={(cidr) => set({ cidr })} />}
      />
      <ButtonGroup
        label="Action"
        value={values.action}
        options={[
          ['allow', 'Allow'],
          ['deny', 'Deny'],
        ]}
        onChange={(action) => set({ action })}
      />
      <TextField
        label="Description"
        note="optional"
        value={values.description}
        onChange={(description) => set({ description })}
        limitBytes={descriptionBytes}
        error={field === 'description' ? change.error?.message : undefined}
      />
    </FormDialog>
  );
}

/** A range has one rule: the last word about it counts. */
function withRule(
  rules: readonly Rule[],
  { cidr, ...rest }: Omit<WantedRule, 'description'> & { description: string },
) {
  const parsed = parseCidr(cidr.trim());
  const range = parsed.ok ? parsed.canonical : cidr;
  return [...rules.filter((rule) => rule.cidr !== range), { cidr: range, ...rest }];
}

/** Offers what was probably meant, by one click. */
function CidrHint({
  text,
  mine,
  onUse,
}: {
  readonly text: string;
  readonly mine: string | undefined;
  readonly onUse: (cidr: string) => void;
}) {
  const parsed = text === '' ? undefined : parseCidr(text);
  const suggestion = parsed === undefined ? mine : parsed.ok ? undefined : parsed.suggestion;
  if (suggestion === undefined) return 'An address range with its mask, IPv4 or IPv6.';
  return (
    <>
      {text === '' ? 'Your address is ' : 'Did you mean '}
      <button type="button" className="link mono" onClick={() => onUse(suggestion)}>
        {suggestion}
      </button>
      {text === '' ? '.' : '?'}
    </>
  );
}
