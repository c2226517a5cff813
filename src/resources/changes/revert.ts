import { Type } from 'typebox';

import { adminsMay } from '../../api/admission/rights.ts';
import type { Call } from '../../api/call.ts';
import { invalidValue, notFound, notReverted } from '../../api/errors.ts';
import { dryRunParameter, readFlag } from '../../api/flag-parameter.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import type { RevertedDocument } from '../../api/reverter.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import type { Value } from '../../store/database.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import { configurationKinds } from '../configuration-kind.ts';
import { rehearse } from '../rehearse.ts';
import type { ResourceContext } from '../resource.ts';
import { placeOf } from './log-page.ts';
import { reverters } from './service.ts';
import { withoutSecrets } from './shown-documents.ts';

/** Changes of one call that are reverted together. */
const limit = 1_000;
/** Characters of their parts in all: some 9,000 rules. */
const partsLimit = 1024 * 1024;

const document = (description: string) =>
  Type.Unsafe<unknown>({ type: ['object', 'null'], additionalProperties: true, description });

export const RevertedChange = Type.Object(
  {
    action: Type.String({ enum: ['create', 'update', 'delete'], description: 'Effect of the revert on the resource.' }),
    kind: Type.String({ description: 'The kind of the resource.', examples: ['ip_policy'] }),
    resource_id: Type.String({ description: 'Id of the resource.' }),
    before: document('The resource as it is before the revert, without secrets; null when it does not exist.'),
    after: document(
      'The resource as the revert makes it, without secrets; null when it is deleted. Of an IP policy whose rules change, ' +
        '`rules` is their number and `rules_that_differ` those that `before` and `after` do not share.',
    ),
  },
  { $id: 'RevertedChange' },
);
export const Revert = Type.Object(
  {
    dry_run: Type.Boolean({ description: 'true: nothing was changed.' }),
    changes: Type.Array(Type.Ref('RevertedChange'), {
      description: 'Changes that the revert undoes, the last one first.',
    }),
  },
  { $id: 'Revert' },
);

interface Logged {
  readonly kind: string;
  readonly id: string;
  readonly before: string | null;
  readonly after: string | null;
  /** Null where the change cascades, and the log does not have its parts. */
  readonly parts: string | null | undefined;
}

export function revertOperation({ store, services }: ResourceContext): Operation {
  return operation({
    method: 'POST',
    path: '/changes/{id}/revert',
    operationId: 'ChangesRevert',
    summary: 'Revert a change',
    description:
      'Undoes the call that made the change, with all that it changed, by a new change with the checks of single calls. If something has changed since, nothing is done, and the error says what is in the way. Rules that were replaced, or deleted with their policy, come back with their ids, if they were at most 1,000 in 128 KiB.',
    tag: 'Changes',
    rights: adminsMay('revert changes'),
    isRehearsable: true,
    query: [dryRunParameter],
    accepts: ['AllowLockout'],
    status: 200,
    response: Revert,
    // Resources that are revertible are known when all operations are.
    get errors() {
      const ofKinds = [...services.all(reverters), ...services.all(configurationKinds)].flatMap(({ errors }) => errors);
      return [...new Set([notFound, notReverted, invalidValue, ...ofKinds])];
    },
    handle: async (call) => {
      const dryRun = readFlag(call, 'dry_run');
      const work = (transaction: Transaction) => revert(transaction, call);
      const changes = dryRun ? await rehearse(store, call.actor, work) : await store.write(call.actor, work);
      return { dry_run: dryRun, changes };
    },
  });

  async function revert(transaction: Transaction, call: Call): Promise<readonly object[]> {
    const logged = await readChanges(transaction, call);
    const byKind = new Map(services.all(reverters).map((each) => [each.kind, each]));
    const done: object[] = [];
    for (const { kind, id, before, after, parts } of logged) {
      const reverter = byKind.get(kind);
      if (reverter === undefined) throw refusal(`a change of ${kind} cannot be undone by a call`);
      const reverted = await reverter.revert(transaction, call, {
        id,
        before: parse(before),
        after: parse(after),
        parts,
      });
      done.push({ ...shown(reverted), kind, resource_id: id });
    }
    return done;
  }
}

/** All that the call changed which made this change, the last one first. */
async function readChanges(transaction: Transaction, { caller, params }: Call): Promise<readonly Logged[]> {
  const { id = '' } = params;
  const place = placeOf(id);
  const rows =
    place === undefined
      ? []
      : await transaction.all(
          `SELECT position, kind, resource_id, before, after, sweeping FROM change_log
           WHERE account_id = $1 AND version = $2 ORDER BY position DESC LIMIT ${limit + 1}`,
          [caller.accountId, place[0]],
        );
  if (!rows.some(([position]) => Number(position) === place?.[1]))
    throw new UserError(notFound, { noun: 'change', id: quote(id) });
  if (rows.length > limit)
    throw refusal(`its call changed more than ${limit} resources. Apply the configuration from before it`);
  const version = place?.[0] ?? 0;
  const cascades = rows.some(([, , , , , sweeping]) => Number(sweeping) !== 0);
  const parts = cascades ? await readParts(transaction, caller.accountId, version) : undefined;
  return rows.map(([position, kind, resourceId, before, after, sweeping]) => ({
    kind: String(kind),
    id: String(resourceId),
    before: textOf(before),
    after: textOf(after),
    parts: Number(sweeping) === 0 ? undefined : (parts?.get(Number(position)) ?? null),
  }));
}

/** By the positions of the changes. */
async function readParts(
  transaction: Transaction,
  accountId: string,
  version: number,
): Promise<ReadonlyMap<number, string>> {
  const those = 'FROM change_log WHERE account_id = $1 AND version = $2 AND parts IS NOT NULL';
  const [[length] = []] = await transaction.all(`SELECT SUM(LENGTH(parts)) ${those}`, [accountId, version]);
  if (Number(length ?? 0) > partsLimit)
    throw refusal('its call changed too many rules to undo them at once. Apply the configuration from before it');
  const rows = await transaction.all(`SELECT position, parts ${those}`, [accountId, version]);
  return new Map(rows.map(([position, parts]) => [Number(position), String(parts)]));
}

function refusal(reason: string): UserError {
  return new UserError(notReverted, { reason });
}

function textOf(value: Value | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

function parse(text: string | null): Readonly<Record<string, unknown>> | null {
  return text === null ? null : JSON.parse(text);
}

function shown({ before, after }: RevertedDocument): object {
  return {
    action: before === null ? 'create' : after === null ? 'delete' : 'update',
    before: before === null ? null : withoutSecrets(before),
    after: after === null ? null : withoutSecrets(after),
  };
}
