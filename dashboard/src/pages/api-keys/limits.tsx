import { Check, TextField } from '../../components/field.tsx';
import { PolicyChoice } from '../../parts/policy-choice.tsx';

/** What narrows a key, as a form has it. */
export interface Limits {
  /** A day in the form that the browser's field has, 2026-11-14; empty: it does not expire. */
  readonly expires_at: string;
  readonly ip_policy_ids: readonly string[];
  readonly read_only: boolean;
}

/** The key is refused from the end of the day on, in UTC. Empty removes the end. */
export function endOfDay(day: string): string {
  return day === '' ? '' : `${day}T23:59:59Z`;
}

export function LimitFields({
  values,
  onChange,
  errorAt,
}: {
  readonly values: Limits;
  readonly onChange: (change: Partial<Limits>) => void;
  readonly errorAt: (name: keyof Limits) => string | undefined;
}) {
  return (
    <>
      <TextField
        label="Expires"
        note="optional"
        type="date"
        value={values.expires_at}
        onChange={(value) => onChange({ expires_at: value })}
        hint="The last day, in UTC, on which it works."
        error={errorAt('expires_at')}
      />
      <PolicyChoice
        label="Only from addresses of"
        note="optional"
        hint="The rules of all these IP policies together must allow the source of every call."
        chosen={values.ip_policy_ids}
        onChange={(ids) => onChange({ ip_policy_ids: ids })}
        error={errorAt('ip_policy_ids')}
      />
      <Check isOn={values.read_only} onChange={(value) => onChange({ read_only: value })}>
        Read only: nothing can be changed with it
      </Check>
    </>
  );
}
