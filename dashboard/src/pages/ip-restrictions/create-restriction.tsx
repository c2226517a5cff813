import { useState } from 'react';
import { useLocation } from 'wouter';

import { fieldOfError } from '../../api/field-errors.ts';
import { useChange } from '../../api/queries.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { SelectField } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { Problem } from '../../components/problem.tsx';
import { toast } from '../../components/toast.tsx';
import { nameOf } from '../../lib/text.ts';
import { RestrictionFields } from './restriction-fields.tsx';
import type { CommonValues } from './restriction-fields.tsx';
import { guards, restrictionErrors } from './restriction-words.ts';
import type { RestrictionType } from './restriction-words.ts';

interface Values extends CommonValues {
  readonly type: RestrictionType;
}

const types: readonly (readonly [RestrictionType, string])[] = [
  ['endpoints', 'Edges and endpoints of agents (endpoints)'],
  ['api', 'The management API (api)'],
  ['dashboard', 'This dashboard (dashboard)'],
  ['agent', 'Agents that connect (agent)'],
];

/** A new restriction only warns: enforcing it is a step of its own, on its page. */
export function CreateRestriction({ onClose }: { readonly onClose: () => void }) {
  const [, navigate] = useLocation();
  const [values, setValues] = useState<Values>({ type: 'endpoints', description: '', ip_policy_ids: [] });
  const change = useChange('IpRestrictionsCreate');
  const field = change.error === undefined ? undefined : fieldOfError(change.error, values, restrictionErrors);
  const errorAt = (name: keyof Values) => (field === name ? change.error?.message : undefined);
  const set = (part: Partial<Values>): void => setValues((before) => ({ ...before, ...part }));
  const submit = async (): Promise<void> => {
    const { ip_policy_ids: ids, ...rest } = values;
    const reply = await change.run({ body: { ...rest, ip_policy_ids: [...ids], enforced: false } });
    if (reply === undefined) return;
    toast(`Created ${nameOf(reply.document)}. It only warns.`);
    navigate(`/ip-restrictions/${reply.document.id}`);
  };
  return (
    <Dialog
      title="Create an IP restriction"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="primary"
            type="submit"
            form="create-restriction"
            disabled={change.isPending}
            missing={values.ip_policy_ids.length === 0 ? 'Add an IP policy to go on' : undefined}
          >
            Create, warning only
          </Button>
        </>
      }
    >
      <Form id="create-restriction" label="Create an IP restriction" onSubmit={() => void submit()}>
        <SelectField
          label="Guards"
          value={values.type}
          onChange={(type) => set({ type })}
          options={types}
          hint={guards[values.type]}
          error={errorAt('type')}
        />
        <RestrictionFields values={values} onChange={set} errorAt={errorAt} />
        {field === undefined ? <Problem error={change.error} /> : null}
        <p className="muted fine">
          Nobody is refused by it yet: its page shows whom it would refuse, until you enforce it.
        </p>
      </Form>
    </Dialog>
  );
}
