import { overQuotaMessage } from '../usage.ts';
import type { CountedTable } from '../usage.ts';

/** SQLSTATE of a row beyond a quota: one of the classes that PostgreSQL leaves to programs. */
export const overQuotaCode = 'GH001';

/** Triggers that count rows and refuse those beyond a quota, for PostgreSQL: once for each statement, however many rows it has. */
export function countRowsSql(tables: readonly CountedTable[]): string {
  return [guardSql, ...tables.map(countSql)].join('\n');
}

const guardSql = `
  CREATE FUNCTION give_quotas() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO account_usage (account_id, quota, used, most, is_own)
    SELECT NEW.id, quota, 0, most, 0 FROM default_quotas;
    RETURN NULL;
  END $$;
  CREATE TRIGGER accounts_get_quotas AFTER INSERT ON accounts FOR EACH ROW EXECUTE FUNCTION give_quotas();
  CREATE FUNCTION refuse_over_quota() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION '${overQuotaMessage} % %', OLD.account_id, OLD.quota USING ERRCODE = '${overQuotaCode}';
  END $$;
  CREATE TRIGGER account_usage_within_quota BEFORE UPDATE OF used ON account_usage FOR EACH ROW
  WHEN (NEW.used > OLD.used AND NEW.used > OLD.most) EXECUTE FUNCTION refuse_over_quota();
`;

function countSql({ table, quota, column }: CountedTable): string {
  const name = `${table}_${quota}`;
  const where = column === undefined ? '' : `WHERE ${column} IS NOT NULL`;
  const trigger = (event: 'INSERT' | 'DELETE', rows: 'NEW' | 'OLD', sign: '+' | '-') => `
    CREATE FUNCTION ${name}_${event.toLowerCase()}() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      UPDATE account_usage u SET used = u.used ${sign} changed.count
      FROM (SELECT account_id, COUNT(*) AS count FROM changed_rows ${where} GROUP BY account_id) changed
      WHERE u.account_id = changed.account_id AND u.quota = '${quota}';
      RETURN NULL;
    END $$;
    CREATE TRIGGER ${table}_${event.toLowerCase()}_${quota} AFTER ${event} ON ${table}
    REFERENCING ${rows} TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION ${name}_${event.toLowerCase()}();`;
  return trigger('INSERT', 'NEW', '+') + trigger('DELETE', 'OLD', '-');
}
