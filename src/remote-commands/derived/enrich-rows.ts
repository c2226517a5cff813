import { ApiError } from '../../../client/src/index.ts';
import type { GatehouseClient, OperationFacts } from '../../../client/src/index.ts';

type Row = Readonly<Record<string, unknown>>;

/** People and bots of one list that are asked for by name. */
const namedLimit = 20;
/** Fields that name a person or bot by its id, and what they are called once they have a name. */
const ownerFields = { owner_id: 'owner', actor: 'actor' } as const;
const edgePath = /^\/edges\/(?:https|tcp|tls)$/;

/** Rows of a table for people: names in place of the ids of owners, and how edges answer. */
export async function enrichRows(
  client: GatehouseClient,
  { path }: OperationFacts,
  rows: readonly unknown[],
): Promise<readonly unknown[]> {
  // Entries of a list are objects.
  const known = rows as readonly Row[];
  return edgePath.test(path) ? withStates(client, known) : withNames(client, known);
}

async function withNames(client: GatehouseClient, rows: readonly Row[]): Promise<readonly Row[]> {
  const ids = new Set(rows.flatMap((row) => Object.keys(ownerFields).map((field) => String(row[field]))));
  const asked = [...ids].filter((id) => /^(?:usr|bot)_/.test(id)).slice(0, namedLimit);
  const names = new Map(await Promise.all(asked.map(async (id) => [id, await nameOf(client, id)] as const)));
  return rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([field, value]) => {
        const name = names.get(String(value));
        const shown = ownerFields[field as keyof typeof ownerFields];
        return shown === undefined || name === undefined ? [field, value] : [shown, name];
      }),
    ),
  );
}

/** Undefined for one that is gone, or that the caller may not see. */
async function nameOf(client: GatehouseClient, id: string): Promise<string | undefined> {
  try {
    const { name } = await client.call(id.startsWith('usr_') ? 'UsersGet' : 'BotUsersGet', { path: { id } });
    return name;
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

async function withStates(client: GatehouseClient, rows: readonly Row[]): Promise<readonly Row[]> {
  const { gateways, is_complete: isComplete, health } = await client.call('TrafficHealth');
  if (gateways === 0) return rows;
  const states = new Map<unknown, string>(health.map(({ id, state }) => [id, state]));
  const unseen = isComplete ? 'no_requests' : 'unknown';
  return rows.map((row) => ({ ...row, state: (states.get(row['id']) ?? unseen).replaceAll('_', ' ') }));
}
