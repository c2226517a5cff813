import { DescriptionField } from '../../components/edit-panel.tsx';
import { PolicyChoice } from '../../parts/policy-choice.tsx';

export interface CommonValues {
  readonly description: string;
  readonly ip_policy_ids: readonly string[];
}

/** The fields that the forms for a new restriction and for an old one share. */
export function RestrictionFields({
  values,
  onChange,
  errorAt,
  startsFocused = false,
}: {
  readonly values: CommonValues;
  readonly onChange: (change: Partial<CommonValues>) => void;
  readonly errorAt: (name: keyof CommonValues) => string | undefined;
  readonly startsFocused?: boolean;
}) {
  return (
    <>
      <DescriptionField
        hint="What it is called in lists."
        startsFocused={startsFocused}
        value={values.description}
        onChange={(description) => onChange({ description })}
        error={errorAt('description')}
      />
      <PolicyChoice
        label="Let in addresses of"
        hint="The rules of all these IP policies count together. A deny rule wins, and what no rule allows is refused."
        chosen={values.ip_policy_ids}
        onChange={(ids) => onChange({ ip_policy_ids: ids })}
        error={errorAt('ip_policy_ids')}
      />
    </>
  );
}
