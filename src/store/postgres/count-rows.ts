import type { CountingSql } from '../database.ts';
import { overQuotaMessage } from '../usage.ts';

/** SQLSTATE of a row beyond a quota: one of the classes that PostgreSQL leaves to programs. */
export const overQuotaCode = 'GH001';

/** Triggers that count rows and refuse those beyond a quota. An `AFTER` trigger need not lock the row that it looks at. */
export const counting: CountingSql = {
  guardSql: `
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
    CREATE TRIGGER account_usage_within_quota AFTER UPDATE OF used ON account_usage FOR EACH ROW
    WHEN (NEW.used > OLD.used AND NEW.used > OLD.most) EXECUTE FUNCTION refuse_over_quota();
    CREATE FUNCTION count_row() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP = 'INSERT' THEN
        UPDATE account_usage SET used = used + 1 WHERE account_id = NEW.account_id AND quota = TG_ARGV[0];
      ELSE
        UPDATE account_usage SET used = used - 1 WHERE account_id = OLD.account_id AND quota = TG_ARGV[0];
      END IF;
      RETURN NULL;
    END $$;
  `,
  triggersSql({ table, quota, column, sum }) {
    if (sum !== undefined) return sumTriggersSql(table, quota, sum);
    const trigger = (event: 'INSERT' | 'DELETE', row: 'NEW' | 'OLD') => `
      CREATE TRIGGER ${table}_${event.toLowerCase()}_${quota} AFTER ${event} ON ${table} FOR EACH ROW
      ${column === undefined ? '' : `WHEN (${row}.${column} IS NOT NULL)`} EXECUTE FUNCTION count_row('${quota}');`;
    return trigger('INSERT', 'NEW') + trigger('DELETE', 'OLD');
  },
};

function sumTriggersSql(table: string, quota: string, column: string): string {
  const name = `sum_${table}_${quota}`;
  const trigger = (event: string, when: string) => `
    CREATE TRIGGER ${table}_${event.slice(0, 6).toLowerCase()}_${quota} AFTER ${event} ON ${table} FOR EACH ROW
    WHEN (${when}) EXECUTE FUNCTION ${name}();`;
  return `
    CREATE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE
      account TEXT;
      change BIGINT := 0;
    BEGIN
      IF TG_OP <> 'INSERT' THEN
        account := OLD.account_id;
        change := change - OLD.${column};
      END IF;
      IF TG_OP <> 'DELETE' THEN
        account := NEW.account_id;
        change := change + NEW.${column};
      END IF;
      UPDATE account_usage SET used = used + change WHERE account_id = account AND quota = '${quota}';
      RETURN NULL;
    END $$;
    ${trigger('INSERT', `NEW.${column} <> 0`)}
    ${trigger('DELETE', `OLD.${column} <> 0`)}
    ${trigger(`UPDATE OF ${column}`, `NEW.${column} <> OLD.${column}`)}`;
}
