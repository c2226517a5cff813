import { useState } from 'react';
import { useLocation } from 'wouter';

import { client } from '../../api/client.ts';
import { fieldOfError } from '../../api/field-errors.ts';
import { useChange } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Check, descriptionBytes, TextField } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { Problem } from '../../components/problem.tsx';
import { toast } from '../../components/toast.tsx';
import { rangeOfAddress } from '../../lib/address.ts';

export function CreatePolicy({ onClose }: { readonly onClose: () => void }) {
  const [, navigate] = useLocation();
  const { address } = useSession();
  const [description, setDescription] = useState('');
  const [allowsMe, setAllowsMe] = useState(true);
  const change = useChange('IpPoliciesCreate');
  const field = change.error === undefined ? undefined : fieldOfError(change.error, { description }, policyErrors);
  const range = rangeOfAddress(address);

  const submit = async (): Promise<void> => {
    const reply = await change.run({ body: { description } });
    if (reply === undefined) return;
    const { id } = reply.document;
    if (allowsMe && range !== undefined) {
      const rule = {
        cidr: range,
        action: 'allow' as const,
        ip_policy_id: id,
        description: 'the address it was made from',
      };
      // The policy is there either way; its page shows that it has no rule.
      await client.call('IpPolicyRulesCreate', { body: rule }).catch(() => undefined);
    }
    toast('Created the policy.');
    navigate(`/ip-policies/${id}`);
  };

  return (
    <Dialog
      title="Create an IP policy"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form="create-policy" disabled={change.isPending}>
            Create policy
          </Button>
        </>
      }
    >
      <Form id="create-policy" label="Create an IP policy" onSubmit={() => void submit()}>
        <TextField
          label="Description"
          note="optional"
          startsFocused
          value={description}
          onChange={(value) => {
            change.reset();
            setDescription(value);
          }}
          limitBytes={descriptionBytes}
          hint="Whose addresses these are, such as “Offices and VPN”."
          error={field === 'description' ? change.error?.message : undefined}
        />
        <Check isOn={allowsMe} onChange={setAllowsMe}>
          Begin with a rule that allows your address, <code>{range ?? address}</code>
        </Check>
        {field === undefined ? <Problem error={change.error} /> : null}
      </Form>
    </Dialog>
  );
}

/** Fields that errors are about, where their message does not say so in a word. */
export const policyErrors = { 1421: 'description', 604: 'description', 605: 'metadata' } as const;
