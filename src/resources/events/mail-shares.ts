import type { TakeMail } from '../../events/targets/email.ts';
import { newId } from '../../lib/ids.ts';
import type { Store } from '../../store/store.ts';

const hourMs = 3_600_000;

/** Counts messages in the database, so that the bound holds for all processes, and after a restart. */
export function takeMailIn(store: Pick<Store, 'writeUnlogged' | 'clockSql'>): TakeMail {
  return (accountId, hourly) =>
    store.writeUnlogged(async (writer) => {
      const [[clock] = []] = await writer.all(`SELECT ${store.clockSql}`);
      const nowMs = Number(clock);
      // What lies far ahead is from before the clock was set back.
      const over = 'sent_at_ms <= $1 OR sent_at_ms > $2';
      await writer.run(`DELETE FROM sent_mails WHERE ${over}`, [nowMs - hourMs, nowMs + hourMs]);
      const [row] = await writer.all('SELECT COUNT(*), MIN(sent_at_ms) FROM sent_mails WHERE account_id = $1', [
        accountId,
      ]);
      if (Number(row?.[0]) >= hourly) return Math.max(1, Math.min(hourMs, Number(row?.[1]) + hourMs - nowMs));
      const sql = 'INSERT INTO sent_mails (id, account_id, sent_at_ms) VALUES ($1, $2, $3)';
      await writer.run(sql, [newId('mail'), accountId, nowMs]);
      return 0;
    }, accountId);
}
