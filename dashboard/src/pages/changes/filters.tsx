import { useList } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { FilterChoice } from '../../components/filter-choice.tsx';
import { useUrlState } from '../../lib/url-state.ts';
import { kindOptions } from './change-words.ts';

/** Names of the filters in the URL. */
export const filterNames = ['who', 'kind', 'action', 'resource', 'since'] as const;

const actions = [
  ['create', 'created'],
  ['update', 'changed'],
  ['delete', 'deleted'],
] as const;

/** Everything in it is in the URL. */
export function Filters() {
  const [params, setParams] = useUrlState();
  const { principal, users } = useSession();
  const { data: bots = [] } = useList('BotUsersList');
  const who = params.get('who');
  const people: readonly (readonly [string, string])[] = [
    [principal.id, `${principal.name}, you`],
    ...users.filter(({ id }) => id !== principal.id).map(({ id, name }) => [id, name] as const),
    ...bots.filter(({ id }) => id !== principal.id).map(({ id, name }) => [id, `${name}, bot`] as const),
    ['host', 'command line of the host'],
    ['provider', 'identity provider'],
  ];
  const isOther = who !== null && !people.some(([id]) => id === who);
  return (
    <div className="bar">
      <FilterChoice name="who" label="Who" options={isOther ? [...people, [who, who]] : people} />
      <FilterChoice name="kind" label="Kind" options={kindOptions} />
      <FilterChoice name="action" label="Action" options={actions} />
      <input
        className="input"
        type="search"
        placeholder="Id of a resource"
        aria-label="Id of a resource"
        aria-keyshortcuts="f"
        value={params.get('resource') ?? ''}
        onChange={(event) => setParams({ resource: event.target.value.trim() })}
      />
      <label className="row">
        <span className="muted">Since</span>
        <input
          className="input date"
          type="date"
          value={params.get('since') ?? ''}
          onChange={(event) => setParams({ since: event.target.value })}
        />
      </label>
    </div>
  );
}
