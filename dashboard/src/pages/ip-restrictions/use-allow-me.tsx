import type { ReactNode } from 'react';

import { useChange } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { Problem } from '../../components/problem.tsx';
import { toast } from '../../components/toast.tsx';
import { rangeOfAddress } from '../../lib/address.ts';

/** Lets the caller's own address in by a rule of a policy, then goes on with what the lock-out guard had refused. */
export function useAllowMe(
  policyId: string | undefined,
  goOn: () => void,
): { readonly run: () => void; readonly problem: ReactNode } {
  const { address, principal } = useSession();
  const change = useChange('IpPolicyRulesCreate');
  const run = async (): Promise<void> => {
    if (policyId === undefined) return;
    const cidr = rangeOfAddress(address) ?? address;
    const reply = await change.run({
      body: { ip_policy_id: policyId, cidr, action: 'allow', description: `${principal.name}, from the dashboard` },
    });
    if (reply === undefined) return;
    toast(`Allowed ${cidr}.`);
    goOn();
  };
  return { run: () => void run(), problem: <Problem error={change.error} /> };
}
