import { SelectField, TextField } from '../../components/field.tsx';

/** Which requests a route takes. */
export interface Match {
  readonly match_type: 'path_prefix' | 'exact_path';
  readonly match: string;
}

const matchBytes = 1024;

export const routeErrors = {
  7073: 'description',
  7074: 'metadata',
  7123: 'match',
  7126: 'match',
  7130: 'match_type',
  7131: 'match',
  7135: 'match',
} as const;

export function MatchFields({
  values,
  onChange,
  errorAt,
}: {
  readonly values: Match;
  readonly onChange: (part: Partial<Match>) => void;
  readonly errorAt: (name: keyof Match) => string | undefined;
}) {
  return (
    <>
      <TextField
        label="Path"
        mono
        startsFocused
        value={values.match}
        onChange={(match) => onChange({ match })}
        limitBytes={matchBytes}
        hint="Starts with /. Unique in the edge."
        error={errorAt('match')}
      />
      <SelectField
        label="Takes"
        value={values.match_type}
        options={[
          ['path_prefix', 'This path and all below it'],
          ['exact_path', 'Exactly this path'],
        ]}
        onChange={(type) => onChange({ match_type: type })}
        hint="An exact path goes before a prefix, and a longer prefix before a shorter one."
        error={errorAt('match_type')}
      />
    </>
  );
}
