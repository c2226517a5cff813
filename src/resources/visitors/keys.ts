import { generateKeyPairSync, randomBytes } from 'node:crypto';

import type { Compiler } from '../../publisher/compiler.ts';
import type { VisitorKeyEntry } from '../../snapshot/contract.ts';
import type { BackgroundTask } from '../background-tasks.ts';
import type { ResourceContext } from '../resource.ts';
import { sealPlainRows } from '../stored-secrets.ts';
import type { StoredSecrets } from '../stored-secrets.ts';
import { createKeySealer, plainPrefix } from '../../lib/sealed-secret.ts';
import { hasElapsed } from '../../lib/elapsed.ts';
import type { SharedSealer } from './service.ts';
import { keyKind } from './table.ts';

type KeyContext = Pick<ResourceContext, 'store' | 'sealer'>;

const dayMs = 86_400_000;
const retryMs = 10_000;
/** A new key takes over after so long. */
const renewedAfterMs = 30 * dayMs;
/** An old one is kept for longer than any session lasts. */
const keptMs = 400 * dayMs;

const contextOf = (number: string) => `visitor_key ${number}`;
const jwkContextOf = (number: string) => `visitor_jwk ${number}`;

/**
 * Makes the first key, and each further one in time. Several processes may try at once: the first one makes it. A start
 * does not wait for it, since the right to write may be with another process for long.
 */
export function keyTask(context: KeyContext): BackgroundTask {
  return {
    ofApi: false,
    async start(log) {
      let isEnded = false;
      let timer: NodeJS.Timeout | undefined;
      const schedule = (afterMs: number) => {
        if (!isEnded) timer = setTimeout(() => void attempt(), afterMs).unref();
      };
      const attempt = async () => {
        try {
          await renew(context);
          schedule(dayMs);
        } catch (error) {
          if (!isEnded)
            log.error({ err: error }, 'the keys for sessions of visitors could not be renewed; trying again');
          schedule(retryMs);
        }
      };
      const first = attempt();
      return {
        async [Symbol.asyncDispose]() {
          isEnded = true;
          clearTimeout(timer);
          await first;
        },
      };
    },
  };
}

/** Exported for tests. `nowMs` is the time. */
export async function renew({ store, sealer }: KeyContext, nowMs = Date.now()): Promise<void> {
  const newest = 'SELECT number, created_at_ms FROM visitor_keys ORDER BY number DESC LIMIT 1';
  const isDue = async (queries: Pick<KeyContext['store']['queries'], 'all'>) => {
    const [row] = await queries.all(newest);
    return {
      number: Number(row?.[0] ?? 0),
      due: row === undefined || hasElapsed(Number(row[1]), renewedAfterMs, nowMs),
    };
  };
  if (!(await isDue(store.queries)).due) return;
  await store.writeUnlogged(async (writer) => {
    const { number, due } = await isDue(writer);
    if (!due) return;
    const next = String(number + 1);
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    await writer.run('INSERT INTO visitor_keys (number, created_at_ms, secret, private_jwk) VALUES ($1, $2, $3, $4)', [
      number + 1,
      nowMs,
      sealer.seal(randomBytes(32).toString('base64'), contextOf(next)),
      sealer.seal(JSON.stringify(privateKey.export({ format: 'jwk' })), jwkContextOf(next)),
    ]);
    writer.record({ accountId: '', kind: keyKind, id: next });
    const old = await writer.all('SELECT number FROM visitor_keys WHERE created_at_ms < $1', [nowMs - keptMs]);
    for (const [each] of old) {
      await writer.run('DELETE FROM visitor_keys WHERE number = $1', [Number(each)]);
      writer.record({ accountId: '', kind: keyKind, id: String(each) });
    }
  });
}

export function keyCompiler({ sealer }: Pick<ResourceContext, 'sealer'>): Compiler {
  const open = (number: string, secret: string, privateJwk: string): VisitorKeyEntry => {
    try {
      return {
        kind: 'visitor_key',
        id: number,
        secret: sealer.open(secret, contextOf(number)),
        privateJwk: sealer.open(privateJwk, jwkContextOf(number)),
      };
    } catch (error) {
      const fault = error instanceof Error ? error.message : String(error);
      return { kind: 'visitor_key', id: number, secret: '', privateJwk: '', fault };
    }
  };
  return {
    kind: 'visitor_key',
    affectedIds: ({ kind, id }) => (kind === keyKind ? [id] : []),
    async load(queries, ids) {
      // There are few of them.
      const rows = await queries.all('SELECT number, secret, private_jwk FROM visitor_keys ORDER BY number');
      return rows
        .map(([number, secret, jwk]) => open(String(number), String(secret), String(jwk)))
        .filter(({ id }) => ids === undefined || ids.includes(id));
    },
  };
}

/** Seals with the newest key: the number of the key, a dot, the sealed text. */
export function createSharedSealer({ store, sealer }: KeyContext): SharedSealer {
  const columns = 'SELECT number, secret FROM visitor_keys';
  const sealerOf = (number: string, secret: string) =>
    createKeySealer(Buffer.from(sealer.open(secret, contextOf(number)), 'base64'));
  return {
    async seal(plain, context) {
      const [row] = await store.queries.all(`${columns} ORDER BY number DESC LIMIT 1`);
      if (row === undefined) throw new Error('there is no key to seal with yet');
      const number = String(row[0]);
      return `${number}.${sealerOf(number, String(row[1])).seal(plain, context)}`;
    },
    async open(sealed, context) {
      const [, number = '', text = ''] = /^(\d{1,9})\.(gcm1:.+)$/.exec(sealed) ?? [];
      const [row] = text === '' ? [] : await store.queries.all(`${columns} WHERE number = $1`, [Number(number)]);
      if (row === undefined) return undefined;
      try {
        return sealerOf(number, String(row[1])).open(text, context);
      } catch {
        return undefined;
      }
    },
  };
}

export function keySecrets(context: KeyContext): StoredSecrets {
  const seal = (column: string, toContext: (number: string) => string) =>
    sealPlainRows(context, { table: 'visitor_keys', id: 'number', column, contextOf: toContext });
  return {
    async oldest(form) {
      const rows = await context.store.queries.all('SELECT number, secret FROM visitor_keys ORDER BY number');
      const row = rows.find(([, secret]) => String(secret).startsWith(plainPrefix) === (form === 'plain'));
      if (row === undefined) return undefined;
      const number = String(row[0]);
      return { owner: 'sessions of visitors', sealed: String(row[1]), context: contextOf(number) };
    },
    async sealPlain() {
      await seal('private_jwk', jwkContextOf);
      return seal('secret', contextOf);
    },
  };
}
