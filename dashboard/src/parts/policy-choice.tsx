import { useState } from 'react';
import { Link } from 'wouter';

import { useList } from '../api/queries.ts';
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
  const mayWrite = useMayWrite();
  const [isMaking, setMaking] = useState(false);
  const rest = policies.filter(({ id }) => !chosen.includes(id));
  return (
    <Field label={label} {...(note === undefined ? {} : { note })} hint={hint} error={error}>
      {(control) => (
        <div className="stack tight">
          {chosen.map((id) => {
            const name = nameOf(policies.find((policy) => policy.id === id) ?? { id });
            return (
              <span key={id} className="row">
                <span className="grow">{name}</span>
                <button
                  type="button"
                  className="btn sm"
                  aria-label={`Take out ${name}`}
                  onClick={() => onChange(chosen.filter((each) => each !== id))}
                >
                  Take out
                </button>
              </span>
            );
          })}
          <select
            {...control}
            className="input"
            value=""
            onChange={(event) => onChange([...chosen, event.target.value])}
            disabled={rest.length === 0}
          >
            <option value="">
              {policies.length === 0
                ? 'There are no IP policies'
                : rest.length === 0
                  ? 'All IP policies are chosen'
                  : 'Add an IP policy'}
            </option>
            {rest.map((policy) => (
              <option key={policy.id} value={policy.id}>
                {nameOf(policy)}
              </option>
            ))}
          </select>
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
