import { FilterChoice } from '../../components/filter-choice.tsx';
import { useUrlState } from '../../lib/url-state.ts';
import type { EdgeNames } from '../../parts/edge-names.ts';

const verdicts = [
  ['allowed', 'let in'],
  ['refused', 'refused'],
  ['warned', 'warned'],
] as const;
const statuses = [
  ['2', '2xx'],
  ['3', '3xx'],
  ['4', '4xx'],
  ['5', '5xx'],
] as const;
const limits = [
  ['100', '100 ms'],
  ['500', '500 ms'],
  ['1000', '1 s'],
  ['5000', '5 s'],
] as const;

export function Filters({ edges }: { readonly edges: EdgeNames }) {
  const [params, setParams] = useUrlState();
  return (
    <div className="bar">
      <FilterChoice name="edge" label="Edge" options={edges.options} />
      <FilterChoice name="verdict" label="Verdict" options={verdicts} />
      <FilterChoice name="status" label="Status" options={statuses} />
      <FilterChoice name="slower" label="Slower than" options={limits} />
      <input
        className="input"
        type="search"
        placeholder="Source or path"
        aria-label="Source or path"
        aria-keyshortcuts="f"
        value={params.get('q') ?? ''}
        onChange={(event) => setParams({ q: event.target.value })}
      />
    </div>
  );
}
