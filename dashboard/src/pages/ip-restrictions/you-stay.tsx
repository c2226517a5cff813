import { Link } from 'wouter';

import type { IpRestriction } from '../../../../client/src/index.ts';
import { useList } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { Glyph } from '../../components/verdict.tsx';
import { nameOf } from '../../lib/text.ts';
import { useCheck } from './check.ts';

const doors = { dashboard: 'this dashboard', api: 'the API', agent: 'agents', endpoints: 'edges' } as const;

/** How the restriction, once enforced, treats the address that the person comes from. */
export function useMyself(restriction: IpRestriction): {
  readonly isKnown: boolean;
  readonly staysIn: boolean;
  readonly rule: { readonly cidr: string; readonly policyId: string } | undefined;
} {
  const { address } = useSession();
  const check = useCheck(restriction, address);
  const rule = check?.rule ?? undefined;
  return {
    isKnown: check !== undefined,
    staysIn: check?.effect === 'allows',
    rule: rule === undefined ? undefined : { cidr: rule.cidr, policyId: rule.ip_policy.id },
  };
}

/** You are part of the picture: whether your own address stays in. */
export function YouStay({ restriction }: { readonly restriction: IpRestriction }) {
  const { address } = useSession();
  const { isKnown, staysIn, rule } = useMyself(restriction);
  const { data: policies = [] } = useList('IpPoliciesList');
  if (!isKnown) return null;
  const policy = rule === undefined ? undefined : policies.find(({ id }) => id === rule.policyId);
  // Only the door through which the person came can be shut behind them.
  const isOwnDoor = restriction.type === 'dashboard';
  return (
    <span className="row">
      <Glyph tone={staysIn ? 'allow' : isOwnDoor ? 'deny' : 'warn'} />
      <span>
        {staysIn ? (
          <>
            You stay in: <code>{address}</code>
            {rule === undefined ? null : (
              <>
                {' '}
                lies in <code>{rule.cidr}</code>
                {policy === undefined ? null : `, ${nameOf(policy)}`}
              </>
            )}
          </>
        ) : (
          <>
            {restriction.enforced ? 'Your address is refused' : 'Your address would be refused'} by{' '}
            {doors[restriction.type]}:{' '}
            {rule === undefined ? (
              <>
                no rule contains <code>{address}</code>
              </>
            ) : (
              <>
                <code>{rule.cidr}</code> denies <code>{address}</code>
              </>
            )}
            . <Link to={`/who-gets-in?ip=${encodeURIComponent(address)}`}>Who gets in?</Link>
          </>
        )}
      </span>
    </span>
  );
}
