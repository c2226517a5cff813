import { useId, useState } from 'react';

import { useAction } from '../api/action.ts';
import { client } from '../api/client.ts';
import { fieldOfError } from '../api/field-errors.ts';
import { useSession } from '../api/session.ts';
import { Button } from '../components/button.tsx';
import { descriptionBytes, TextField } from '../components/field.tsx';
import { Problem } from '../components/problem.tsx';
import { rangeOfAddress } from '../lib/address.ts';
import { ruleErrors } from './rule-errors.ts';

/** Makes an IP policy with one range inside another form, so that nobody has to leave that form for it. */
export function NewPolicy({
  onMade,
  onClose,
}: {
  readonly onMade: (id: string) => void;
  readonly onClose: () => void;
}) {
  const { address } = useSession();
  const titleId = useId();
  const [description, setDescription] = useState('');
  const [cidr, setCidr] = useState(rangeOfAddress(address) ?? address);
  const [madeId, setMadeId] = useState<string>();
  const action = useAction();
  const field = action.error === undefined ? undefined : fieldOfError(action.error, { cidr, description }, ruleErrors);
  const create = async (): Promise<void> => {
    let id = madeId;
    const act = async (): Promise<void> => {
      id ??= (await client.call('IpPoliciesCreate', { body: { description } })).id;
      // A second try, with another range, must not make the policy again.
      setMadeId(id);
      await client.call('IpPolicyRulesCreate', { body: { ip_policy_id: id, cidr: cidr.trim(), action: 'allow' } });
    };
    if ((await action.run(act)) && id !== undefined) onMade(id);
  };
  return (
    // Enter in one of its fields means this part, not the form around it.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- its fields take the key, not the group
    <div
      className="inset-form"
      role="group"
      aria-labelledby={titleId}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.target instanceof HTMLInputElement)) return;
        event.preventDefault();
        event.stopPropagation();
        if (!action.isPending) void create();
      }}
    >
      <b id={titleId}>New IP policy</b>
      <TextField
        label="Name of the policy"
        note="optional"
        placeholder="Offices and VPN"
        value={description}
        onChange={setDescription}
        limitBytes={descriptionBytes}
        error={field === 'description' ? action.error?.message : undefined}
      />
      <TextField
        label="Range to let in"
        mono
        value={cidr}
        onChange={setCidr}
        hint="Your own address, unless you change it. More ranges are added on the page of the policy."
        error={field === 'cidr' ? action.error?.message : undefined}
      />
      {field === undefined ? <Problem error={action.error} /> : null}
      <div className="row right">
        <Button small onClick={onClose}>
          Discard
        </Button>
        <Button small look="primary" disabled={action.isPending} onClick={() => void create()}>
          Create and use it
        </Button>
      </div>
    </div>
  );
}
