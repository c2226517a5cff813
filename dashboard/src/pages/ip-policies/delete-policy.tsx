import { useLocation } from 'wouter';

import type { IpPolicy } from '../../../../client/src/index.ts';
import { useChange } from '../../api/queries.ts';
import { DeleteDialog } from '../../components/delete-dialog.tsx';
import { toast } from '../../components/toast.tsx';
import { Glyph } from '../../components/verdict.tsx';
import { countOf, nameOf } from '../../lib/text.ts';
import { usePolicyUses } from './policy-uses.ts';
import type { Rules } from './use-rules.ts';

export function DeletePolicy({
  policy,
  rules: { totals },
  onClose,
}: {
  readonly policy: IpPolicy;
  readonly rules: Rules;
  readonly onClose: () => void;
}) {
  const [, navigate] = useLocation();
  const change = useChange('IpPoliciesDelete');
  const uses = usePolicyUses()(policy.id);
  const count = (totals?.allow ?? 0) + (totals?.deny ?? 0);
  const run = async (options: { allowLockout?: boolean }): Promise<void> => {
    if ((await change.run({ path: { id: policy.id }, ...options })) === undefined) return;
    toast(`Deleted the policy ${nameOf(policy)}.`);
    navigate('/ip-policies');
  };
  return (
    <DeleteDialog
      title={`Delete the policy “${nameOf(policy)}”?`}
      lost={`${countOf(count, 'rule goes', 'rules go')} with it. This cannot be undone.`}
      uses={
        uses.length === 0 ? undefined : (
          <ul className="rules">
            {uses.map(({ to, name, note }) => (
              <li key={to + name}>
                <Glyph tone="warn" />
                <span className="grow">{name}</span>
                <span className="end">{note}</span>
              </li>
            ))}
          </ul>
        )
      }
      typeName={count > 0 ? nameOf(policy) : undefined}
      act="Delete policy"
      isPending={change.isPending}
      error={change.error}
      onDelete={(options) => void run(options)}
      onClose={onClose}
    />
  );
}
