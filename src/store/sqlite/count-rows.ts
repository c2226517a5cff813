import type { CountingSql } from '../database.ts';
import { overQuotaMessage } from '../usage.ts';

/** Triggers that count rows and refuse those beyond a quota. */
export const counting: CountingSql = {
  guardSql: `
    CREATE TRIGGER accounts_get_quotas AFTER INSERT ON accounts BEGIN
      INSERT INTO account_usage (account_id, quota, used, most, is_own)
      SELECT NEW.id, quota, 0, most, 0 FROM default_quotas;
    END;
    CREATE TRIGGER account_usage_within_quota BEFORE UPDATE OF used ON account_usage
    WHEN NEW.used > OLD.used AND NEW.used > OLD.most BEGIN
      SELECT RAISE(ABORT, '${overQuotaMessage} ' || OLD.account_id || ' ' || OLD.quota);
    END;
  `,
  triggersSql({ table, quota, column, sum }) {
    if (sum !== undefined) return sumTriggersSql(table, quota, sum);
    const trigger = (event: 'INSERT' | 'DELETE', row: 'NEW' | 'OLD', sign: '+' | '-') => `
      CREATE TRIGGER ${table}_${event.toLowerCase()}_${quota} AFTER ${event} ON ${table}
      ${column === undefined ? '' : `WHEN ${row}.${column} IS NOT NULL`} BEGIN
        UPDATE account_usage SET used = used ${sign} 1 WHERE account_id = ${row}.account_id AND quota = '${quota}';
      END;`;
    return trigger('INSERT', 'NEW', '+') + trigger('DELETE', 'OLD', '-');
  },
};

function sumTriggersSql(table: string, quota: string, column: string): string {
  const trigger = (event: string, when: string, account: string, change: string) => `
    CREATE TRIGGER ${table}_${event.slice(0, 6).toLowerCase()}_${quota} AFTER ${event} ON ${table} WHEN ${when} BEGIN
      UPDATE account_usage SET used = used + ${change} WHERE account_id = ${account} AND quota = '${quota}';
    END;`;
  return [
    trigger('INSERT', `NEW.${column} <> 0`, 'NEW.account_id', `NEW.${column}`),
    trigger('DELETE', `OLD.${column} <> 0`, 'OLD.account_id', `(-OLD.${column})`),
    trigger(
      `UPDATE OF ${column}`,
      `NEW.${column} <> OLD.${column}`,
      'NEW.account_id',
      `(NEW.${column} - OLD.${column})`,
    ),
  ].join('');
}
