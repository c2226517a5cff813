import type { IpPolicy } from '../../../../client/src/index.ts';
import { useChange } from '../../api/queries.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { toast } from '../../components/toast.tsx';
import { callOf, rehearse } from '../../parts/rehearsal/rehearse.ts';
import { policyWith } from '../../parts/rehearsal/rehearse-entries.ts';
import { useRehearsal } from '../../parts/rehearsal/use-rehearsal.tsx';
import type { Rule, Rules } from './use-rules.ts';

/** Asks before a rule is lost, and shows who would notice. */
export function DeleteRule({
  policy,
  rules,
  rule,
  onClose,
}: {
  readonly policy: IpPolicy;
  readonly rules: Rules;
  readonly rule: Rule;
  readonly onClose: () => void;
}) {
  const change = useChange('IpPolicyRulesDelete');
  const remove = async (options: { allowLockout?: boolean }): Promise<void> => {
    if ((await change.run({ path: { id: rule.id }, ...options })) === undefined) return;
    toast(`Deleted the rule for ${rule.cidr}.`);
    onClose();
  };
  const rehearsal = useRehearsal({
    subject: rule.id,
    what: 'The deletion of this rule',
    rehearse: (signal) => {
      const others = rules.rules.filter(({ id }) => id !== rule.id);
      return rehearse(callOf('IpPolicyRulesDelete', { path: { id: rule.id } }), signal, [policyWith(policy, others)]);
    },
    save: (options) => void remove(options),
    isSaving: change.isPending,
    error: change.error,
  });
  return (
    <Dialog
      title={`Delete the rule for ${rule.cidr}?`}
      onClose={onClose}
      beside={rehearsal.sheet}
      footer={
        <>
          <Button onClick={onClose} startsFocused>
            Keep it
          </Button>
          <Button look="primary" missing={rules.isComplete ? undefined : 'Reading the rules…'} onClick={rehearsal.open}>
            See who would notice
          </Button>
        </>
      }
    >
      <p>
        {rule.action === 'allow'
          ? 'Addresses that no other rule allows are refused from now on, wherever the policy is enforced.'
          : 'Addresses that another rule allows are let in from now on.'}
      </p>
    </Dialog>
  );
}
