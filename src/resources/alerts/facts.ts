import { oneLine } from '../../events/one-line.ts';
import { chunks } from '../../lib/chunks.ts';
import { toTimestamp } from '../../lib/ids.ts';
import type { LastRefusal } from '../../observe/traffic-health.ts';
import { processes } from '../processes/service.ts';
import { nearQuotas } from '../quotas/service.ts';
import type { ResourceContext } from '../resource.ts';
import { watchedBackends } from '../static-backends/service.ts';
import { certificateEnds } from '../tls-certificates/service.ts';
import { traffic } from '../traffic/service.ts';
import type { AlertKind } from './service.ts';

/** A state as it is now. */
export interface Fact {
  readonly about: string;
  readonly summary: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

/** What holds for an account now. `isOpen`: an alert of it is open, which may hold longer than it takes to begin. */
export type ReadFacts = (accountId: string, isOpen: (about: string) => boolean) => Promise<readonly Fact[]>;

/** States of one account and kind; further ones are not told. */
export const mostFacts = 1_000;
/** Certificates, and quotas, of all accounts together, those first that need most haste. */
const mostUrgent = 2_000;
const documentsAtOnce = 64;
/** An edge refuses visitors while the last refusal is no older. */
const freshMs = 60_000;
/** It does not refuse them any more after this time without one. */
const quietMs = 600_000;
const longestText = 200;

type Parts = Pick<ResourceContext, 'store' | 'services'>;

/** Readers of one look; what concerns all accounts is read once. */
export function readersOf(parts: Parts): ReadonlyMap<AlertKind, ReadFacts> {
  const certificates = once(() => readCertificates(parts));
  const quotas = once(() => parts.services.get(nearQuotas).list(mostUrgent));
  const refusals = once(() => lastRefusals(parts));
  return new Map<AlertKind, ReadFacts>([
    ['agent_session_alert', (accountId) => readSessions(parts, accountId)],
    ['backend_alert', (accountId) => readBackends(parts, accountId)],
    ['certificate_alert', async (accountId) => (await certificates()).get(accountId) ?? []],
    [
      'quota_alert',
      async (accountId) =>
        (await quotas())
          .filter((each) => each.accountId === accountId)
          .map(({ quota, used, most }) => ({
            about: quota,
            summary: `quota ${quota}: ${used} of ${most} are used`,
            facts: { limit: most },
          })),
    ],
    ['refusals_alert', async (accountId, isOpen) => readRefusals((await refusals()).get(accountId), isOpen)],
  ]);
}

async function readSessions({ store }: Parts, accountId: string): Promise<readonly Fact[]> {
  const sql = `SELECT id, document FROM tunnel_sessions WHERE account_id = $1 ORDER BY id LIMIT ${mostFacts}`;
  const rows = await store.queries.all(sql, [accountId]);
  return rows.map(([id, text]) => {
    // Only the resource of sessions writes the table.
    const document = JSON.parse(String(text)) as Readonly<
      Record<'ip' | 'os' | 'agent_version' | 'credential_id', string>
    >;
    const { ip, os, agent_version, credential_id } = document;
    return {
      about: String(id),
      summary: `agent at ${short(ip)}`,
      facts: { client_ip: ip, os: short(os), agent_version: short(agent_version), credential_id },
    };
  });
}

async function readBackends({ services }: Parts, accountId: string): Promise<readonly Fact[]> {
  const all = await services.get(watchedBackends).ofAccount(accountId);
  return all
    .filter(({ state }) => state === 'down' || state === 'in_part')
    .map(({ id, state, addresses, answering, fault }) => ({
      about: id,
      summary: `backend ${id}: ${answering} of ${addresses} addresses answer`,
      facts: { state, addresses, answering, address: fault?.address, cause: fault?.cause && short(fault.cause) },
    }));
}

async function readCertificates({ store, services }: Parts): Promise<ReadonlyMap<string, readonly Fact[]>> {
  const nowMs = Date.now();
  const soon = services.get(certificateEnds).soon(nowMs).slice(0, mostUrgent);
  const byAccount = new Map<string, Fact[]>();
  const sources = new Map(soon);
  for (const ids of chunks([...sources.keys()], documentsAtOnce)) {
    const places = ids.map((_, at) => `$${at + 1}`).join(', ');
    const rows = await store.queries.all(
      `SELECT id, account_id, document FROM tls_certificates WHERE id IN (${places})`,
      ids,
    );
    for (const [id, accountId, text] of rows) {
      // Only the resource of certificates writes the table.
      const { not_after, subject_common_name } = JSON.parse(String(text)) as Readonly<
        Record<'not_after' | 'subject_common_name', string>
      >;
      const hasEnded = Date.parse(not_after) <= nowMs;
      const source = sources.get(String(id));
      const why = source === 'issued' ? ' and was not renewed' : '';
      const facts = byAccount.get(String(accountId)) ?? [];
      byAccount.set(String(accountId), facts);
      facts.push({
        about: String(id),
        summary: `certificate for ${short(subject_common_name)} ${hasEnded ? 'has ended' : 'ends'} ${not_after}${why}`,
        facts: { not_after, common_name: subject_common_name, source, has_ended: hasEnded },
      });
    }
  }
  return byAccount;
}

type Refusals = ReadonlyMap<string, LastRefusal>;

/** The last refusal of each edge, in whichever process, by account. */
async function lastRefusals({ services }: Parts): Promise<ReadonlyMap<string, Refusals>> {
  const others = (await services.get(processes).list()).filter(({ isSelf }) => !isSelf);
  const all = [services.get(traffic).reportHealth(), ...others.map(({ status }) => status?.health)];
  const byAccount = new Map<string, Map<string, LastRefusal>>();
  for (const { accountId, id, lastRefusal } of all.flatMap((each) => each?.reports ?? [])) {
    // Routes and backends are told of by their edges.
    if (lastRefusal === undefined || !/^(edg[a-z]*|ep)_/.test(id) || id.startsWith('edghtsrt_')) continue;
    const ofAccount = byAccount.get(accountId) ?? new Map<string, LastRefusal>();
    byAccount.set(accountId, ofAccount);
    const known = ofAccount.get(id);
    if (known === undefined || known.atMs < lastRefusal.atMs) ofAccount.set(id, lastRefusal);
  }
  return byAccount;
}

export function readRefusals(refusals: Refusals = new Map(), isOpen: (about: string) => boolean): readonly Fact[] {
  const nowMs = Date.now();
  return [...refusals].flatMap(([id, { atMs, cause, message, source }]) => {
    // A refusal of the future is one from before a clock was set back: it would last until then.
    if (Math.abs(nowMs - atMs) > (isOpen(id) ? quietMs : freshMs)) return [];
    return [
      {
        about: id,
        summary: `${id} refuses visitors, the last one at ${short(source)} by ${cause}`,
        facts: { at: toTimestamp(atMs), cause, message: short(message), client_ip: source },
      },
    ];
  });
}

function short(text: string): string {
  return oneLine(text).slice(0, longestText).toWellFormed();
}

function once<Result>(read: () => Promise<Result>): () => Promise<Result> {
  let reading: Promise<Result> | undefined;
  return () => (reading ??= read());
}
