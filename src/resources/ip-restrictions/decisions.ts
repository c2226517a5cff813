import { Type } from 'typebox';

import type { Call } from '../../api/call.ts';
import { notFound } from '../../api/errors.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import { adminsMay } from '../../api/admission/rights.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { toTimestamp } from '../../lib/ids.ts';
import { formatIp, parseIp } from '../../lib/ip/address.ts';
import type { Queries } from '../../store/database.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import { Table } from '../../store/table.ts';
import type { Stored } from '../../store/table.ts';
import { notAnIpAddress } from '../ip-check/errors.ts';
import type { ResourceContext } from '../resource.ts';
import { tooManyDecisions } from './errors.ts';
import { ipRestrictions } from './table.ts';

/** Decision of a person about a source that a restriction would refuse. It changes nothing for traffic. */
interface Decision extends Stored {
  readonly restriction_id: string;
  readonly ip: string;
  readonly decision: 'refuse_on_purpose';
  readonly decided_by: string;
  readonly decided_at: string;
}

/** As many as a summary shows. */
const decisionLimit = 1_000;
const path = '/ip_restrictions/{id}/decisions/{ip}';

const decision = Type.Unsafe<Decision['decision']>({
  type: 'string',
  enum: ['refuse_on_purpose'],
  description: 'refuse_on_purpose: the source is meant to be refused once the restriction is enforced.',
});

export const IpRestrictionDecisionView = Type.Object(
  {
    ip: Type.String({ description: 'The address it is about.' }),
    decision,
    decided_by: Type.String({ description: 'The User or Bot that decided.' }),
    decided_at: Type.String({ format: 'date-time', description: 'When, RFC 3339.' }),
  },
  { $id: 'IpRestrictionDecision' },
);

export const IpRestrictionDecisionReplace = Type.Object(
  { decision },
  { $id: 'IpRestrictionDecisionReplace', additionalProperties: false },
);

const decisions = new Table<Decision>({
  name: 'ip_restriction_decisions',
  kind: 'ip_restriction_decision',
  prefix: 'ipxd',
  columns: { restriction_id: ({ restriction_id }) => restriction_id, source: ({ ip }) => ip },
});

export function decisionOperations({ store }: ResourceContext): readonly Operation[] {
  const common = {
    path,
    tag: 'IP restrictions',
    rights: adminsMay('decide about the sources of IP restrictions'),
  } as const;
  const replace = operation({
    ...common,
    method: 'PUT',
    operationId: 'IpRestrictionDecisionsReplace',
    summary: 'Decide about a source that an IP restriction would refuse',
    description: 'The decision is shown with the warnings of the restriction. It changes nothing for traffic.',
    body: IpRestrictionDecisionReplace,
    status: 200,
    response: IpRestrictionDecisionView,
    errors: [notFound, notAnIpAddress, tooManyDecisions],
    handle: (call) =>
      store.write(call.actor, async (transaction) => present(await decide(transaction, call, call.body.decision))),
  });
  const remove = operation({
    ...common,
    method: 'DELETE',
    operationId: 'IpRestrictionDecisionsDelete',
    summary: 'Take back a decision about a source of an IP restriction',
    status: 204,
    errors: [notFound, notAnIpAddress],
    handle: (call) =>
      store.write(call.actor, async (transaction) => {
        const { known } = await find(transaction, call);
        if (known !== undefined) await decisions.delete(transaction, known);
      }),
  });
  return [replace, remove];
}

/** Decisions by address. */
export async function readDecisions(queries: Queries, restrictionId: string): Promise<ReadonlyMap<string, Decision>> {
  const sql = 'SELECT document FROM ip_restriction_decisions WHERE restriction_id = $1';
  const all = (await queries.all(sql, [restrictionId])).map((row) => decisions.parse(row));
  return new Map(all.map((each) => [each.ip, each]));
}

/** Decisions go with their restriction. */
export async function deleteDecisions(transaction: Transaction, restrictionId: string): Promise<void> {
  for (const each of (await readDecisions(transaction, restrictionId)).values())
    await decisions.delete(transaction, each);
}

async function decide(transaction: Transaction, call: Call, chosen: Decision['decision']): Promise<Decision> {
  const { known, restrictionId, ip } = await find(transaction, call);
  const { accountId, principal } = call.caller;
  // Who decided first stays: a repeated call changes nothing.
  if (known !== undefined) return known;
  const sql = 'SELECT COUNT(*) FROM ip_restriction_decisions WHERE restriction_id = $1';
  const [row] = await transaction.all(sql, [restrictionId]);
  if (Number(row?.[0]) >= decisionLimit) throw new UserError(tooManyDecisions, { limit: decisionLimit });
  return decisions.insert(transaction, {
    ...decisions.newDocument(accountId),
    restriction_id: restrictionId,
    ip,
    decision: chosen,
    decided_by: principal.id,
    decided_at: toTimestamp(Date.now()),
  });
}

async function find(transaction: Transaction, { caller, params }: Call) {
  const { id = '', ip: text = '' } = params;
  const restriction = await ipRestrictions.find(transaction, caller.accountId, id);
  if (restriction === undefined) throw new UserError(notFound, { noun: 'IP restriction', id: quote(id) });
  const address = parseIp(text);
  if (address === undefined) throw new UserError(notAnIpAddress, { ip: quote(text) });
  const ip = formatIp(address);
  const sql = 'SELECT document FROM ip_restriction_decisions WHERE restriction_id = $1 AND source = $2';
  const [row] = await transaction.all(sql, [id, ip]);
  return { restrictionId: id, ip, known: row && decisions.parse(row) };
}

function present({ ip, decision: chosen, decided_by, decided_at }: Decision): object {
  return { ip, decision: chosen, decided_by, decided_at };
}
