import { useMemo } from 'react';

import type { IpPolicy, IpRestriction } from '../../../../client/src/index.ts';
import { useList } from '../../api/queries.ts';
import { useWarnings } from '../../api/warnings.ts';
import { SelectField } from '../../components/field.tsx';
import type { PageProps } from '../../components/page.tsx';
import { Badge } from '../../components/verdict.tsx';
import { equals, textHas } from '../../lib/filter.ts';
import { nameOf, restrictionName } from '../../lib/text.ts';
import { PolicyChoice } from '../../parts/policy-choice.tsx';
import { createdColumn, nameColumn } from '../../resource/columns.tsx';
import { callOf, rehearse } from '../../parts/rehearsal/rehearse.ts';
import { restrictionWith } from '../../parts/rehearsal/rehearse-entries.ts';
import { useRehearsal } from '../../parts/rehearsal/use-rehearsal.tsx';
import type { Resource, Rows } from '../../resource/describe.ts';
import { description, field, metadata } from '../../resource/fields.tsx';
import { ResourcePages } from '../../resource/lists.tsx';
import { canBeReverted } from '../../resource/uses.tsx';
import { RestrictionPanels } from './restriction-panels.tsx';
import { addressesOf, guards } from './restriction-words.ts';
import type { RestrictionType } from './restriction-words.ts';
import { sourcesOf } from './standing.ts';
import { useAllowMe } from './use-allow-me.tsx';

const path = '/ip-restrictions';

const types: readonly (readonly [RestrictionType, string])[] = [
  ['endpoints', 'Edges and endpoints of agents (endpoints)'],
  ['api', 'The management API (api)'],
  ['dashboard', 'This dashboard (dashboard)'],
  ['agent', 'Agents that connect (agent)'],
];

function stateOf({ enforced }: IpRestriction) {
  return enforced ? <Badge>Enforced</Badge> : <Badge tone="warn">Warns only</Badge>;
}

/** A new restriction only warns: enforcing it is a step of its own, on its page. */
const restrictions: Resource<'IpRestrictionsList'> = {
  list: 'IpRestrictionsList',
  noun: ['restriction', 'restrictions'],
  icon: 'shield',
  path,
  what: 'IP restrictions',
  who: 'admins',
  filterHint: 'Description or id',
  whenEmpty: [
    'No IP restrictions',
    'Everybody with a valid token may call, from any address. A restriction warns first, and shows whom it would refuse.',
  ],
  Rows: ({ render }) => {
    const { data: policies } = useList('IpPoliciesList');
    return render(useMemo(() => rowsOf(policies ?? []), [policies]));
  },
  nameOf: restrictionName,
  fields: [
    field<IpRestriction, RestrictionType>({
      name: 'type',
      start: 'endpoints',
      form: 'create',
      toBody: (type) => ({ type, enforced: false }),
      Input: ({ value, onChange, error }) => (
        <SelectField
          label="Guards"
          value={value}
          onChange={onChange}
          options={types}
          hint={guards[value]}
          error={error}
        />
      ),
    }),
    description({ hint: 'Its name in lists.' }),
    field<IpRestriction, readonly string[]>({
      name: 'ip_policy_ids',
      start: [],
      from: ({ ip_policies: policies }) => policies.map(({ id }) => id),
      Input: ({ value, onChange, error }) => (
        <PolicyChoice
          label="Let in addresses of"
          hint="The rules of all these IP policies count together. A deny rule wins, and what no rule allows is refused."
          chosen={value}
          onChange={onChange}
          error={error}
        />
      ),
    }),
    metadata(),
  ],
  errors: { 604: 'description', 605: 'metadata', 1801: 'ip_policy_ids', 1803: 'type', 1804: 'ip_policy_ids' },
  create: {
    title: 'Create an IP restriction',
    open: 'Create restriction',
    act: 'Create, warning only',
    note: 'Nobody is refused by it yet: its page shows whom it would refuse, until you enforce it.',
    missing: ({ ip_policy_ids: ids }) =>
      Array.isArray(ids) && ids.length === 0 ? 'Add an IP policy to go on' : undefined,
    said: (restriction) => `Created ${restrictionName(restriction)}. It only warns.`,
  },
  edit: {
    Allow: ({ edit, document, render }) => {
      // The field above has made it.
      const chosen = edit.values['ip_policy_ids'] as readonly string[];
      const allow = useAllowMe(chosen[0], () => void edit.save());
      const rehearsal = useRehearsal({
        subject: JSON.stringify(edit.values),
        what: 'This change',
        rehearse: (signal) =>
          rehearse(
            callOf('IpRestrictionsUpdate', { path: { id: document.id }, body: { ip_policy_ids: [...chosen] } }),
            signal,
            [restrictionWith(document, { ip_policy_ids: chosen })],
          ),
        save: (options) => void edit.save(options),
        isSaving: edit.isPending,
        error: edit.error,
        allow: allow.run,
      });
      const isSame = document.ip_policies.map(({ id }) => id).join() === chosen.join();
      return render(isSame ? allow : { ...allow, rehearsal });
    },
  },
  badge: (restriction) => (
    <>
      {stateOf(restriction)}
      <Badge>{restriction.type}</Badge>
    </>
  ),
  lead: ({ type }) => guards[type],
  Body: RestrictionPanels,
  Removal: ({ document, render }) =>
    render({
      lost: document.enforced
        ? `Addresses that it refuses get in from now on. Its warnings and decisions are lost; its policies stay. ${canBeReverted}`
        : `It refuses nobody now. Its warnings and decisions are lost; its policies stay. ${canBeReverted}`,
      mustType: document.enforced,
      said: `Deleted ${restrictionName(document)}.`,
    }),
};

export function Page({ id }: PageProps) {
  return (
    <ResourcePages
      resource={restrictions}
      id={id}
      title="IP restrictions"
      lead="Who gets in, by address: to the dashboard, the API, for agents and to edges. A new one only warns, until you enforce it."
    />
  );
}

function rowsOf(policies: readonly IpPolicy[]): Rows<IpRestriction> {
  const names = new Map(policies.map((policy) => [policy.id, nameOf(policy)]));
  return {
    columns: [
      nameColumn<IpRestriction>({
        head: 'Restriction',
        width: '34%',
        path,
        name: restrictionName,
        sub: ({ type }) => <span className="sub m1">guards {type}</span>,
      }),
      {
        id: 'state',
        head: 'State',
        isNarrow: true,
        sortBy: ({ enforced }) => (enforced ? 1 : 0),
        cell: stateOf,
      },
      {
        id: 'type',
        head: 'Guards',
        priority: 'p1',
        isNarrow: true,
        sortBy: ({ type }) => type,
        cell: ({ type }) => <Badge>{type}</Badge>,
      },
      {
        id: 'would-refuse',
        head: 'Would refuse, last day',
        priority: 'p1',
        cell: (row) => <WouldRefuse restriction={row} />,
      },
      {
        id: 'policies',
        head: 'Policies',
        priority: 'p3',
        width: '20%',
        cell: ({ ip_policies: refs }) => (
          <span className="sub">{refs.map(({ id }) => names.get(id) ?? id).join(', ')}</span>
        ),
      },
      createdColumn(),
    ],
    filters: [
      {
        name: 'type',
        label: 'Guards',
        options: { dashboard: 'dashboard', api: 'api', agent: 'agent', endpoints: 'endpoints' },
        matches: ({ type }, value) => type === value,
        filter: equals('type'),
      },
      {
        name: 'state',
        label: 'State',
        options: { enforced: 'enforced', warns: 'warns only' },
        matches: ({ enforced }, value) => enforced === (value === 'enforced'),
        filter: (value) => `obj.enforced == ${value === 'enforced'}`,
      },
    ],
    searchFilter: textHas('description', 'id', 'type'),
  };
}

/** Only a restriction that warns counts whom it would refuse. */
function WouldRefuse({ restriction: { id, enforced } }: { readonly restriction: IpRestriction }) {
  const { data } = useWarnings(id, 'day', !enforced);
  if (enforced) return <span className="muted">It refuses now</span>;
  if (data === undefined) return null;
  const sources = sourcesOf(data);
  const undecided = sources.filter(({ state }) => state === 'undecided').length;
  if (undecided > 0) return addressesOf(undecided);
  return <span className="muted">{sources.length === 0 ? 'Nobody' : 'All decided'}</span>;
}
