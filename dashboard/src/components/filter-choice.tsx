import { useUrlState } from '../lib/url-state.ts';

/** One of a few values, in the URL under its name. The list starts again at its first page. */
export function FilterChoice({
  name,
  label,
  options,
}: {
  readonly name: string;
  readonly label: string;
  readonly options: readonly (readonly [value: string, words: string])[];
}) {
  const [params, setParams] = useUrlState();
  return (
    <select
      className={params.has(name) ? 'input set' : 'input'}
      aria-label={label}
      value={params.get(name) ?? ''}
      onChange={(event) => setParams({ [name]: event.target.value, page: undefined })}
    >
      <option value="">{label}: any</option>
      {options.map(([value, words]) => (
        <option key={value} value={value}>
          {label}: {words}
        </option>
      ))}
    </select>
  );
}
