import type { Queries } from '../store/database.ts';

/** A table as the database itself describes it. */
export interface TableShape {
  readonly name: string;
  readonly columns: readonly string[];
  /** Columns of the primary key, in its order. */
  readonly key: readonly string[];
  /** Tables that its foreign keys name. */
  readonly references: readonly string[];
}

interface CatalogSql {
  /** Selects the names of all tables. */
  readonly tables: string;
  /** Selects the columns of table $1: name, and place in the primary key or 0. */
  readonly columns: string;
  /** Selects the tables that foreign keys of table $1 name. */
  readonly references: string;
}

const sqlite: CatalogSql = {
  tables: `SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, 7) <> 'sqlite_' ORDER BY name`,
  columns: 'SELECT name, pk FROM pragma_table_info($1) ORDER BY cid',
  references: 'SELECT DISTINCT "table" FROM pragma_foreign_key_list($1)',
};

const postgres: CatalogSql = {
  tables: `
    SELECT t.relname FROM pg_class t JOIN pg_namespace s ON s.oid = t.relnamespace
    WHERE s.nspname = current_schema() AND t.relkind IN ('r', 'p') ORDER BY t.relname COLLATE "C"`,
  columns: `
    SELECT a.attname, COALESCE(array_position(k.conkey, a.attnum), 0)
    FROM pg_attribute a LEFT JOIN pg_constraint k ON k.conrelid = a.attrelid AND k.contype = 'p'
    WHERE a.attrelid = quote_ident($1)::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`,
  references: `
    SELECT DISTINCT t.relname FROM pg_constraint k JOIN pg_class t ON t.oid = k.confrelid
    WHERE k.conrelid = quote_ident($1)::regclass AND k.contype = 'f'`,
};

/** All tables, each after those that it references. */
export async function readTables(queries: Queries, dialect: 'sqlite' | 'postgres'): Promise<readonly TableShape[]> {
  const sql = dialect === 'sqlite' ? sqlite : postgres;
  const tables: TableShape[] = [];
  for (const name of texts(await queries.all(sql.tables))) {
    const columns = (await queries.all(sql.columns, [name])).map(([column, place]) => ({
      column: String(column),
      place: Number(place),
    }));
    tables.push({
      name,
      columns: columns.map(({ column }) => column),
      key: columns
        .filter(({ place }) => place > 0)
        .toSorted((a, b) => a.place - b.place)
        .map(({ column }) => column),
      references: texts(await queries.all(sql.references, [name])),
    });
  }
  return inOrderOfReferences(tables);
}

export async function countRows(queries: Queries, table: string): Promise<number> {
  const [row] = await queries.all(`SELECT count(*) FROM ${quoteName(table)}`);
  return Number(row?.[0]);
}

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

function texts(rows: Awaited<ReturnType<Queries['all']>>): readonly string[] {
  return rows.map(([text]) => String(text));
}

function inOrderOfReferences(tables: readonly TableShape[]): readonly TableShape[] {
  const ordered: TableShape[] = [];
  const placed = new Set<string>();
  while (ordered.length < tables.length) {
    const ready = tables.filter(
      ({ name, references }) => !placed.has(name) && references.every((each) => placed.has(each)),
    );
    if (ready.length === 0) {
      const rest = tables.filter(({ name }) => !placed.has(name)).map(({ name }) => name);
      throw new Error(
        `these tables reference each other or themselves, so that none can be filled first: ${rest.join(', ')}`,
      );
    }
    ordered.push(...ready);
    for (const { name } of ready) placed.add(name);
  }
  return ordered;
}
