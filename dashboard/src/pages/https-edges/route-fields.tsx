import type { HttpsEdgeRoute } from '../../../../client/src/index.ts';
import { SelectField } from '../../components/field.tsx';
import { field, text } from '../../resource/fields.tsx';

export const routeErrors = {
  7073: 'description',
  7074: 'metadata',
  7123: 'match',
  7126: 'match',
  7130: 'match_type',
  7131: 'match',
  7135: 'match',
} as const;

/** Fields that say which requests a route takes. */
export const matchFields = [
  text<HttpsEdgeRoute>('match', {
    label: 'Path',
    mono: true,
    startsFocused: true,
    limitBytes: 1024,
    hint: 'Starts with /. Unique in the edge.',
  }),
  field<HttpsEdgeRoute, HttpsEdgeRoute['match_type']>({
    name: 'match_type',
    start: 'path_prefix',
    Input: ({ value, onChange, error }) => (
      <SelectField
        label="Takes"
        value={value}
        options={[
          ['path_prefix', 'This path and all below it'],
          ['exact_path', 'Exactly this path'],
        ]}
        onChange={onChange}
        hint="An exact path goes before a prefix, and a longer prefix before a shorter one."
        error={error}
      />
    ),
  }),
];
