import { ApiError, operations } from '../../../client/src/index.ts';
import type { GatehouseClient, OperationId } from '../../../client/src/index.ts';
import type { Document, Journal } from './journal.ts';

const pageLimit = '100';

/** Everything of one collection, newest first, as far as it was not read before. Empty where the server has no such thing. */
export async function readCollection(
  client: GatehouseClient,
  name: string,
  journal: Journal,
): Promise<readonly Document[]> {
  for (;;) {
    const pages = journal.pagesOf(name);
    const last = pages.at(-1);
    if (last !== undefined && last.next === undefined) return pages.flatMap(({ documents }) => documents);
    await journal.addPage(name, await readPage(client, name, last?.next));
  }
}

/** Ids of everything in one collection of a server. */
export async function readIds(client: GatehouseClient, name: string): Promise<ReadonlySet<string>> {
  const ids = new Set<string>();
  let before: string | undefined;
  do {
    const page = await readPage(client, name, before);
    for (const document of page.documents) for (const id of [document.id, ...routeIds(document)]) ids.add(id);
    before = page.next;
  } while (before !== undefined);
  return ids;
}

export function routesIn(edge: Document): readonly Document[] {
  // Every server shows the routes of an edge in it.
  return (edge['routes'] ?? []) as readonly Document[];
}

function routeIds(document: Document): readonly string[] {
  return routesIn(document).map(({ id }) => id);
}

async function readPage(client: GatehouseClient, name: string, before: string | undefined) {
  // The names of collections are written beside those of the operations.
  const operation = `${name}List` as OperationId;
  const query = { limit: pageLimit, ...(before === undefined ? {} : { before_id: before }) };
  try {
    const page = (await client.call(operation, { query })) as Readonly<Record<string, unknown>>;
    // Every list has its entries below this key.
    const documents = (page[operations[operation].list ?? ''] ?? []) as readonly Document[];
    const isLast = typeof page['next_page_uri'] !== 'string' || documents.length === 0;
    return { documents, ...(isLast ? {} : { next: documents.at(-1)?.id }) };
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return { documents: [] };
    throw error;
  }
}
