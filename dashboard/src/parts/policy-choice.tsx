import { useState } from 'react';
import { Link } from 'wouter';

import { useList } from '../api/queries.ts';
import { ChosenList } from '../components/chosen-list.tsx';
import { Field } from '../components/field.tsx';
import { useMayWrite } from '../components/rights.tsx';
import { nameOf } from '../lib/text.ts';
import { NewPolicy } from './new-policy.tsx';

/** Some of the IP policies of the account, in the order in which they were chosen. */
export function PolicyChoice({
  label,
  note,
  hint,
  chosen,
  onChange,
  error,
}: {
  readonly label: string;
  readonly note?: string;
  readonly hint?: string;
  readonly chosen: readonly string[];
  readonly onChange: (ids: readonly string[]) => void;
  readonly error?: string | undefined;
}) {
  const { data: policies = [] } = useList('IpPoliciesList');
  const byId = new Map(policies.map((policy) => [policy.id, policy]));
  const mayWrite = useMayWrite();
  const [isMaking, setMaking] = useState(false);
  return (
    <Field label={label} {...(note === undefined ? {} : { note })} hint={hint} error={error}>
      {(control) => (
        <div className="stack tight">
          <ChosenList
            control={control}
            chosen={chosen}
            ids={[...byId.keys()]}
            nameOf={(id) => nameOf(byId.get(id) ?? { id })}
            words={{ none: 'There are no IP policies', all: 'All IP policies are chosen', add: 'Add an IP policy' }}
            onChange={onChange}
          />
          {isMaking ? (
            <NewPolicy
              onMade={(id) => {
                setMaking(false);
                onChange([...chosen, id]);
              }}
              onClose={() => setMaking(false)}
            />
          ) : mayWrite ? (
            <div>
              <button type="button" className="btn sm" onClick={() => setMaking(true)}>
                New IP policy…
              </button>
            </div>
          ) : null}
        </div>
      )}
    </Field>
  );
}

/** Links to policies, one below the other. */
export function PolicyLinks({ ids, none }: { readonly ids: readonly string[]; readonly none?: string }) {
  const { data: policies = [] } = useList('IpPoliciesList', { enabled: ids.length > 0 });
  if (ids.length === 0) return none;
  return ids.map((id) => (
    <div key={id}>
      <Link to={`/ip-policies/${id}`}>{nameOf(policies.find((policy) => policy.id === id) ?? { id })}</Link>
    </div>
  ));
}
