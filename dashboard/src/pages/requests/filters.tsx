import { useEffect, useState } from 'react';

import { Button } from '../../components/button.tsx';
import { FilterChoice } from '../../components/filter-choice.tsx';
import { useList } from '../../api/queries.ts';
import { isoSeconds } from '../../lib/picture-times.ts';
import { nameOf, restrictionName } from '../../lib/text.ts';
import { useUrlState } from '../../lib/url-state.ts';
import { useBackends } from '../../parts/backends.ts';
import { useCredentialName } from '../../parts/credential-names.ts';
import type { EdgeNames } from '../../parts/edge-names.ts';
import { refusingModules } from '../../parts/module-words.ts';
import { requestFilters } from '../../parts/past-requests.ts';

/** Names of all filters in the URL. */
export const filterNames: readonly string[] = [...Object.keys(requestFilters), 'range'];

const verdicts = [
  ['refused', 'refused'],
  ['warned', 'warned'],
  ['allowed', 'let in'],
] as const;

/** Filters that are shown when they are asked for, or set. */
const rareNames = [
  'route',
  'backend',
  'policy',
  'agent',
  'module',
  'restriction',
  'person',
  'status',
  'since',
  'until',
] as const;

/** Everything in it is in the URL. */
export function Filters({ edges }: { readonly edges: EdgeNames }) {
  const [params] = useUrlState();
  const isRareSet = rareNames.some((name) => params.has(name));
  const [isOpen, setOpen] = useState(false);
  return (
    <div className="stack tight">
      <div className="bar">
        <TimeChoice />
        <FilterChoice name="verdict" label="Verdict" options={verdicts} />
        <FilterChoice name="edge" label="Edge" options={withGiven(edges.options, params.get('edge'))} />
        <TextFilter name="source" label="Address or network" isFirst />
        <TextFilter name="host" label="Host" />
        <Button
          look="ghost"
          icon="filter"
          aria-expanded={isOpen || isRareSet}
          disabled={isRareSet}
          onClick={() => setOpen(!isOpen)}
        >
          {isOpen && !isRareSet ? 'Fewer filters' : 'More filters'}
        </Button>
      </div>
      {isOpen || isRareSet ? <RareFilters edges={edges} /> : null}
    </div>
  );
}

function RareFilters({ edges }: { readonly edges: EdgeNames }) {
  const [params] = useUrlState();
  const { data: restrictions } = useList('IpRestrictionsList');
  const { data: policies } = useList('IpPoliciesList');
  const { data: sessions } = useList('TunnelSessionsList');
  const { all: backends } = useBackends();
  const credential = useCredentialName();
  const names = (restrictions ?? []).map((each) => [each.id, restrictionName(each)] as const);
  const agents = (sessions ?? []).map(
    ({ id, credential: { id: of }, ip }) => [id, `${credential(of)} at ${ip}`] as const,
  );
  return (
    <div className="bar">
      <FilterChoice
        name="route"
        label="Route"
        options={withGiven(edges.routesOf(params.get('edge')), params.get('route'))}
      />
      <FilterChoice
        name="backend"
        label="Backend"
        options={withGiven(
          (backends ?? []).map(({ id, name }) => [id, name] as const),
          params.get('backend'),
        )}
      />
      <FilterChoice
        name="policy"
        label="IP policy"
        options={withGiven(
          (policies ?? []).map((each) => [each.id, nameOf(each)] as const),
          params.get('policy'),
        )}
      />
      <FilterChoice name="agent" label="Agent" options={withGiven(agents, params.get('agent'))} />
      <FilterChoice name="module" label="Module" options={withGiven(refusingModules, params.get('module'))} />
      <FilterChoice name="restriction" label="Restriction" options={withGiven(names, params.get('restriction'))} />
      <TextFilter name="person" label="Person" />
      <TextFilter name="status" label="Status" />
      <MomentFilter name="since" label="From" />
      <MomentFilter name="until" label="To" />
    </div>
  );
}

const ranges = [
  ['hour', 'last hour'],
  ['day', 'last day'],
  ['week', 'last 7 days'],
] as const;

/** A time that ends now takes the place of one that was given, and the other way round. */
function TimeChoice() {
  const [params, setParams] = useUrlState();
  const isGiven = params.has('since') || params.has('until');
  const value = isGiven ? 'given' : (params.get('range') ?? '');
  return (
    <select
      className={value === '' ? 'input' : 'input set'}
      aria-label="Time"
      value={value}
      onChange={({ target }) => setParams({ range: target.value, since: undefined, until: undefined })}
    >
      <option value="">Time: any</option>
      {ranges.map(([range, words]) => (
        <option key={range} value={range}>
          Time: {words}
        </option>
      ))}
      {isGiven ? <option value="given">Time: as given</option> : null}
    </select>
  );
}

/** Milliseconds without a key after which what was typed is looked for. */
const typingMs = 400;

/** Typed text goes into the URL when typing pauses: each search costs the gateways something. */
function TextFilter({
  name,
  label,
  isFirst = false,
}: {
  readonly name: string;
  readonly label: string;
  /** The field that the key `f` leads to. */
  readonly isFirst?: boolean;
}) {
  const [params, setParams] = useUrlState();
  const given = params.get(name) ?? '';
  const [typed, setTyped] = useState<string>();
  useEffect(() => {
    if (typed === undefined) return undefined;
    const timer = setTimeout(() => {
      setParams({ [name]: typed.trim() });
      setTyped(undefined);
    }, typingMs);
    return () => clearTimeout(timer);
  }, [typed, name, setParams]);
  return (
    <input
      className={given === '' ? 'input' : 'input set'}
      type="search"
      placeholder={label}
      aria-label={label}
      aria-keyshortcuts={isFirst ? 'f' : undefined}
      spellCheck={false}
      autoComplete="off"
      value={typed ?? given}
      onChange={({ target }) => setTyped(target.value)}
    />
  );
}

/** A moment, in the time of the browser; the URL has it in UTC. */
function MomentFilter({ name, label }: { readonly name: string; readonly label: string }) {
  const [params, setParams] = useUrlState();
  const given = params.get(name) ?? '';
  return (
    <label className="row">
      <span className="muted">{label}</span>
      <input
        className="input"
        type="datetime-local"
        step={1}
        aria-label={label}
        value={toLocal(given)}
        onChange={({ target: { value } }) => {
          const ms = Date.parse(value);
          setParams({ [name]: Number.isNaN(ms) ? undefined : isoSeconds(ms), range: undefined });
        }}
      />
    </label>
  );
}

function toLocal(time: string): string {
  const ms = Date.parse(time);
  if (Number.isNaN(ms)) return '';
  const offsetMs = new Date(ms).getTimezoneOffset() * 60_000;
  return new Date(ms - offsetMs).toISOString().slice(0, 19);
}

/** A link may name what is no longer there, or not among the newest. */
function withGiven(
  options: readonly (readonly [value: string, words: string])[],
  given: string | null,
): readonly (readonly [value: string, words: string])[] {
  if (given === null || options.some(([value]) => value === given)) return options;
  return [...options, [given, given]];
}
