import { Link } from 'wouter';

import { useOwners } from '../api/owners.ts';
import type { Owner } from '../api/owners.ts';
import type { Column } from '../components/table.tsx';

export function ownerColumn<Row extends { readonly owner_id: string }>(owner: (id: string) => Owner): Column<Row> {
  return {
    id: 'owner',
    head: 'Owner',
    width: '18%',
    priority: 'p1',
    sortBy: ({ owner_id: id }) => owner(id).name.toLowerCase(),
    cell: ({ owner_id: id }) => (
      <>
        <span className="main">{owner(id).name}</span>
        <span className="sub">{owner(id).kind}</span>
      </>
    ),
  };
}

/** The owner in one line. */
export function OwnerName({ id }: { readonly id: string }) {
  const { name, kind } = useOwners()(id);
  return <Link to={`/${id.startsWith('bot_') ? 'bot-users' : 'users'}/${id}`}>{`${name}, ${kind}`}</Link>;
}
