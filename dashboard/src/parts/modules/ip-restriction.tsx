import { Link } from 'wouter';

import { useList } from '../../api/queries.ts';
import { Banner } from '../../components/banner.tsx';
import { nameOf } from '../../lib/text.ts';
import { PolicyChoice } from '../policy-choice.tsx';
import type { ModuleEdit, ModuleKind } from './kind.ts';
import { textsIn } from './schema-form.tsx';
import type { ModuleView } from './target.ts';

/** The policies that the module names. */
export function policyIdsIn(view: ModuleView | null): readonly string[] {
  // The form in which the API shows this module.
  return (
    (view as { readonly ip_policies?: readonly { readonly id: string }[] } | null)?.ip_policies?.map(({ id }) => id) ??
    []
  );
}

function Summary({ view }: { readonly view: ModuleView }) {
  const { data: policies = [] } = useList('IpPoliciesList');
  return policyIdsIn(view).map((id, index) => (
    <span key={id}>
      {index === 0 ? '' : ', '}
      <Link to={`/ip-policies/${id}`}>{nameOf(policies.find((policy) => policy.id === id) ?? { id })}</Link>
    </span>
  ));
}

function Fields({ edit }: { readonly edit: ModuleEdit }) {
  return (
    <>
      {edit.values['enabled'] === true ? (
        <Banner>It is on: a change counts from the moment that you save. Switch it off first to try addresses.</Banner>
      ) : null}
      <PolicyChoice
        label="Let in addresses of"
        hint="The rules of all these IP policies together decide. What no rule allows is refused."
        chosen={textsIn(edit.values['ip_policy_ids'])}
        onChange={(ids) => edit.set('ip_policy_ids', ids)}
        error={edit.errorAt('ip_policy_ids')}
      />
    </>
  );
}

export const ipRestrictionKind: ModuleKind = {
  icon: 'shield',
  title: 'IP restriction',
  badge: 'IP',
  whenNotSet: 'Every address that the account lets in',
  errors: Object.fromEntries([7007, 7013, 7025, 229, 20_009].map((number) => [number, 'ip_policy_ids'])),
  isChecked: true,
  // The module begins switched off, so that addresses can be tried before anybody is refused.
  toValues: (view) => ({ enabled: view?.enabled ?? false, ip_policy_ids: policyIdsIn(view) }),
  toSettings: (values) => Promise.resolve(values),
  Summary,
  Fields,
};
