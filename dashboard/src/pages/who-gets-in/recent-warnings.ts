import { client } from '../../api/client.ts';
import { useRead } from '../../api/queries.ts';

/** Restrictions that are asked, and addresses that are offered. */
const mostRestrictions = 5;
const mostOffered = 4;

/** Addresses that restrictions warned of last, newest first. */
export function useRecentWarnings(): readonly string[] {
  const { data } = useRead(['recent-warnings'], async (signal) => {
    const { ip_restrictions: restrictions } = await client.call('IpRestrictionsList', { signal });
    const warning = restrictions.filter(({ enforced }) => !enforced).slice(0, mostRestrictions);
    const lists = await Promise.all(
      warning.map(({ id }) => client.call('IpRestrictionWarningsList', { path: { id }, signal })),
    );
    const newest = lists
      .flatMap(({ warnings }) => warnings)
      .toSorted((one, other) => other.last_seen.localeCompare(one.last_seen));
    return [...new Set(newest.map(({ source }) => source))].slice(0, mostOffered);
  });
  return data ?? [];
}
