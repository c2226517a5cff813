import { Type } from 'typebox';

import type { Call } from '../../api/call.ts';
import { nullable } from '../../api/body/view-fields.ts';
import { notFound } from '../../api/errors.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { toTimestamp } from '../../lib/ids.ts';
import { parseIp } from '../../lib/ip/address.ts';
import { readAppliedAt } from '../../store/migrate.ts';
import { accessInForce } from '../access-in-force.ts';
import type { ResourceContext } from '../resource.ts';
import { readDecisions } from './decisions.ts';
import { unknownWindow } from './errors.ts';
import { warnings } from './service.ts';
import { ipRestrictions } from './table.ts';
import type { IpRestriction } from './table.ts';
import { longSlotSeconds, readBuckets, readSources, shortSlotSeconds, slotsMigration } from './warning-slots.ts';
import type { CountedSource } from './warning-slots.ts';

const shownSources = 1_000;

/** Length of each window, and of the buckets that it is shown in. */
const windows = {
  hour: { seconds: 3_600, bucketSeconds: shortSlotSeconds },
  day: { seconds: 86_400, bucketSeconds: longSlotSeconds },
  week: { seconds: 604_800, bucketSeconds: longSlotSeconds },
} as const;
type Window = keyof typeof windows;
const windowNames = ['hour', 'day', 'week'] as const satisfies readonly Window[];

const time = (description: string) => Type.String({ format: 'date-time', description: `${description} RFC 3339.` });

export const IpRestrictionWarningsSummary = Type.Object(
  {
    window: Type.String({ enum: [...windowNames], description: 'The time window.' }),
    from: time('When the first bucket begins: at least the whole window ago.'),
    to: time('Now.'),
    collecting_since: nullable(
      'string',
      'Since when the restriction only warns and its warnings are kept by time, RFC 3339; null while it is enforced.',
    ),
    total_warned: Type.Integer({ description: 'Warnings in all buckets.' }),
    buckets: Type.Array(
      Type.Object({ start: time('When it begins.'), count: Type.Integer({ description: 'Warnings in it.' }) }),
      {
        description:
          'Oldest first: of five minutes for an hour, else of an hour. The first and the last may be partly outside.',
      },
    ),
    sources: Type.Array(
      Type.Object({
        ip: Type.String({ description: 'The address that would have been refused.', examples: ['203.0.113.7'] }),
        count: Type.Integer({ description: 'How often it came within the window.' }),
        first_at: time('When it was first seen, also before the window.'),
        last_at: time('When it was last seen.'),
        would_be_refused: Type.Boolean({ description: 'false: the rules have changed, and allow it now.' }),
        decision: nullable('string', 'refuse_on_purpose: somebody means it to be refused; null: nobody has decided.'),
        decided_by: nullable('string', 'The User or Bot that decided.'),
        decided_at: nullable('string', 'When it was decided, RFC 3339.'),
      }),
      { description: `The addresses, the most frequent first; at most ${shownSources}.` },
    ),
    total_sources: Type.Integer({
      description: 'How many addresses came within the window, as far as they are counted separately.',
    }),
    sources_truncated: Type.Boolean({ description: 'true: more addresses came than are shown.' }),
    uri: Type.String({ description: 'URI of this summary.' }),
  },
  { $id: 'IpRestrictionWarningsSummary' },
);

/** Answers who would have been refused, when and how often: the ground for enforcing a restriction. */
export function summaryOperation(context: ResourceContext): Operation {
  return operation({
    rights: 'everyone',
    method: 'GET',
    path: '/ip_restrictions/{id}/warnings/summary',
    operationId: 'IpRestrictionWarningsSummary',
    summary: 'Sum up what an IP restriction has warned of',
    description:
      'Warnings of the last hour, day or week, over time and by source, with what was decided about each source and ' +
      'whether the rules as they are now would still refuse it.',
    tag: 'IP restrictions',
    query: [
      {
        name: 'window',
        description: 'The time window; by default, a day.',
        schema: Type.Unsafe({ type: 'string', enum: [...windowNames], default: 'day' }),
      },
    ],
    status: 200,
    response: IpRestrictionWarningsSummary,
    errors: [notFound, unknownWindow],
    handle: async (call) => {
      const { caller, params, filters } = call;
      const window = readWindow(filters['window']);
      const { id = '' } = params;
      const restriction = await context.store.find(ipRestrictions, caller.accountId, id);
      if (restriction === undefined) throw new UserError(notFound, { noun: 'IP restriction', id: quote(id) });
      await context.services.get(warnings).flush();
      return sumUp(context, restriction, window, call);
    },
  });
}

function readWindow(text: string | undefined): Window {
  const window = windowNames.find((name) => name === (text ?? 'day'));
  if (window === undefined) throw new UserError(unknownWindow, { window: quote(text) });
  return window;
}

async function sumUp(context: ResourceContext, restriction: IpRestriction, window: Window, { uri }: Call) {
  const { queries } = context.store;
  const { seconds, bucketSeconds } = windows[window];
  const nowSeconds = Math.floor(Date.now() / 1000);
  const from = nowSeconds - seconds - ((nowSeconds - seconds) % bucketSeconds);
  const counts = await readBuckets(queries, restriction.id, from, bucketSeconds);
  const starts = Array.from(
    { length: Math.floor((nowSeconds - from) / bucketSeconds) + 1 },
    (_, at) => from + at * bucketSeconds,
  );
  const buckets = starts.map((start) => ({ start: toTimestamp(start * 1000), count: counts.get(start) ?? 0 }));
  const { sources, total, hasOthers } = await readSources(queries, restriction.id, from, shownSources);
  return {
    window,
    from: toTimestamp(from * 1000),
    to: toTimestamp(nowSeconds * 1000),
    collecting_since: await collectingSince(context, restriction),
    total_warned: buckets.reduce((sum, { count }) => sum + count, 0),
    buckets,
    sources: await presentSources(context, restriction, sources),
    total_sources: total,
    sources_truncated: hasOthers || total > sources.length,
    uri: uri(`/ip_restrictions/${restriction.id}/warnings/summary`),
  };
}

async function collectingSince({ store }: ResourceContext, restriction: IpRestriction): Promise<string | null> {
  const { enforced, created_at, warns_since: since } = restriction;
  if (enforced) return null;
  if (since !== undefined) return since;
  const keptSince = (await readAppliedAt(store.queries, slotsMigration.name)) ?? created_at;
  return keptSince > created_at ? keptSince : created_at;
}

async function presentSources(
  { store, services }: ResourceContext,
  { id, ip_policy_ids }: IpRestriction,
  sources: readonly CountedSource[],
): Promise<readonly object[]> {
  const decisions = await readDecisions(store.queries, id);
  const rows = await store.queries.all(
    `SELECT source, first_seen, last_seen FROM ip_restriction_warnings WHERE restriction_id = $1`,
    [id],
  );
  const seen = new Map(rows.map(([source, first, last]) => [String(source), { first, last }]));
  const access = services.get(accessInForce);
  return sources.map(({ source, count, lastSlot }) => {
    const slot = toTimestamp(lastSlot * 1000);
    const decision = decisions.get(source);
    const address = parseIp(source);
    return {
      ip: source,
      count,
      first_at: seen.get(source)?.first ?? slot,
      last_at: seen.get(source)?.last ?? slot,
      would_be_refused: address === undefined || !access.allows(ip_policy_ids, address),
      decision: decision?.decision ?? null,
      decided_by: decision?.decided_by ?? null,
      decided_at: decision?.decided_at ?? null,
    };
  });
}
