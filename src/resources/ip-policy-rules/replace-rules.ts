import { Type } from 'typebox';

import { decodeText, mediaType, parseBody } from '../../api/body.ts';
import { checkMatch, tagAnswer } from '../../api/etag.ts';
import { operation } from '../../api/operation.ts';
import type { Call, Operation } from '../../api/operation.ts';
import { textFields, withText } from '../../api/text-fields.ts';
import type { TextFields } from '../../api/text-fields.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import type { Row } from '../../store/database.ts';
import type { Transaction } from '../../store/group-commit.ts';
import type { ResourceContext } from '../resource.ts';
import { acceptCidr } from './cidr-rules.ts';
import { actions, ipPolicyRules } from './table.ts';
import type { Action, IpPolicyRule } from './table.ts';

const ruleLimit = 100_000;
const bodyLimitBytes = 32 * 1024 * 1024;
/** Rows in one statement; PostgreSQL takes at most 65,535 parameters. */
const rowsAtOnce = 512;

interface WantedRule extends TextFields {
  readonly cidr: string;
  readonly action: Action;
}

const ReplaceRules = Type.Array(
  Type.Union([
    Type.String({ description: 'A CIDR; "!" before it means deny.', examples: ['203.0.113.0/24'] }),
    Type.Object(
      {
        cidr: Type.String({ examples: ['203.0.113.0/24'] }),
        action: Type.Optional(
          Type.Union(
            actions.map((each) => Type.Literal(each)),
            { description: 'Default allow.', default: 'allow' },
          ),
        ),
        ...textFields,
      },
      { additionalProperties: false },
    ),
  ]),
  { description: 'All rules that the policy has from now on.' },
);

export const RulesReplaced = Type.Object(
  {
    added: Type.Integer({ description: 'Rules that are new.' }),
    removed: Type.Integer({ description: 'Rules that are gone.' }),
    kept: Type.Integer({ description: 'Rules that were there already; they keep their ids.' }),
  },
  { $id: 'IpPolicyRulesReplaced' },
);

export function replaceRulesOperation({ store, offers }: ResourceContext): Operation {
  return operation({
    method: 'PUT',
    path: '/ip_policies/{id}/rules',
    operationId: 'IpPolicyRulesReplace',
    summary: 'Replace all rules of an IP policy',
    description:
      'At once and as a whole: traffic never sees half of the list. Send a JSON list, or plain text with one CIDR a line ' +
      '("!" before a CIDR means deny, "#" starts a comment). Rules that are kept keep their ids.',
    tag: 'IP policies',
    body: ReplaceRules,
    bodyForm: 'list',
    bodyLimit: bodyLimitBytes,
    bodyTypes: ['application/json', 'text/plain'],
    parseBody: parseRuleList,
    status: 200,
    answer: RulesReplaced,
    errors: [222, 1406, 1409, 1411, 1413, 1422, 20005, 20009, 20012, 20016, 20020],
    handle: async (call) => {
      // Checked before the write begins: others need not wait for it.
      const wanted = acceptRules(call.body);
      return store.write(call.actor, async (transaction) => {
        const { id = '' } = call.params;
        if (!(await offers.ipPolicies.exists(transaction, call.caller.accountId, id))) {
          throw new UserError(222, { noun: 'IP policy', id: quote(id) });
        }
        const counts = await replaceRules(transaction, call, id, wanted);
        tagAnswer(call, stateOf(wanted.values()));
        await offers.lockoutGuard.check(transaction, call);
        return counts;
      });
    },
  });
}

function parseRuleList(contentType: string | undefined, encoding: string | undefined, bytes: Buffer): unknown {
  const isText = contentType !== undefined && mediaType(contentType) === 'text/plain' && encoding === undefined;
  if (!isText) return parseBody(contentType, encoding, bytes);
  const lineByCidr = new Map<string, number>();
  return decodeText(bytes)
    .split(/\r?\n/)
    .flatMap((text, at) => {
      const rule = (text.split('#', 1)[0] ?? '').trim();
      if (rule === '') return [];
      const line = at + 1;
      const cidr = cidrOfLine(rule, line);
      const earlier = lineByCidr.get(cidr);
      if (earlier !== undefined) throw new UserError(20016, { line, reason: `${cidr} is in line ${earlier} already.` });
      lineByCidr.set(cidr, line);
      return [rule];
    });
}

/** Finds the fault while the number of the line is known. */
function cidrOfLine(rule: string, line: number): string {
  try {
    return acceptRule(rule).cidr;
  } catch (error) {
    if (error instanceof UserError) throw new UserError(20016, { line, reason: error.message });
    throw error;
  }
}

type RuleInput = string | (Omit<WantedRule, 'action'> & { readonly action?: Action });

function acceptRules(inputs: readonly RuleInput[]): ReadonlyMap<string, WantedRule> {
  if (inputs.length > ruleLimit) throw new UserError(1411, { limit: ruleLimit, count: inputs.length });
  const wanted = new Map<string, WantedRule>();
  for (const input of inputs) {
    const rule = acceptRule(input);
    if (wanted.has(rule.cidr)) throw new UserError(20009, { field: 'The list', id: rule.cidr });
    wanted.set(rule.cidr, rule);
  }
  return wanted;
}

function acceptRule(input: RuleInput): WantedRule {
  if (typeof input !== 'string') return { ...input, cidr: acceptCidr(input.cidr), action: input.action ?? 'allow' };
  return input.startsWith('!')
    ? { cidr: acceptCidr(input.slice(1).trim()), action: 'deny' }
    : { cidr: acceptCidr(input), action: 'allow' };
}

async function replaceRules(
  transaction: Transaction,
  call: Call,
  policyId: string,
  wanted: ReadonlyMap<string, WantedRule>,
): Promise<{ added: number; removed: number; kept: number }> {
  const { accountId } = call.caller;
  const rows = await transaction.all('SELECT document FROM ip_policy_rules WHERE ip_policy_id = $1', [policyId]);
  const existing = rows.map((row: Row) => ipPolicyRules.parse(row));
  if (call.ifMatch !== undefined) checkMatch(call, stateOf(existing));
  const kept = new Set(existing.filter((rule) => isKept(rule, wanted.get(rule.cidr))).map(({ cidr }) => cidr));
  const gone = existing.filter(({ cidr }) => !kept.has(cidr));
  const fresh = [...wanted.values()].filter(({ cidr }) => !kept.has(cidr));
  if (gone.length + fresh.length > 0) {
    for (const chunk of chunks(gone)) await deleteRules(transaction, chunk);
    for (const chunk of chunks(fresh)) await insertRules(transaction, accountId, policyId, chunk);
    const counts = { added: fresh.length, removed: gone.length, kept: kept.size };
    transaction.record({
      accountId,
      kind: 'ip_policy',
      id: policyId,
      before: JSON.stringify({ id: policyId, rules: existing.length }),
      after: JSON.stringify({ id: policyId, rules: wanted.size, replaced: counts }),
      sweeping: true,
    });
  }
  return { added: fresh.length, removed: gone.length, kept: kept.size };
}

/** What a tag of the whole list stands for: the same rules in any order are the same list. */
function stateOf(rules: Iterable<Pick<IpPolicyRule, 'cidr' | 'action'>>): object {
  return Array.from(rules, ({ cidr, action }) => `${action} ${cidr}`).toSorted();
}

/** A rule is kept if nothing about it changes; a text that the list does not give is left as it is. */
function isKept(rule: IpPolicyRule, wanted: WantedRule | undefined): boolean {
  if (wanted === undefined || wanted.action !== rule.action) return false;
  const { description = rule.description, metadata = rule.metadata } = wanted;
  return (description ?? '') === (rule.description ?? '') && (metadata ?? '') === (rule.metadata ?? '');
}

async function deleteRules(transaction: Transaction, rules: readonly IpPolicyRule[]): Promise<void> {
  const places = rules.map((_, at) => `$${at + 1}`).join(', ');
  await transaction.run(
    `DELETE FROM ip_policy_rules WHERE id IN (${places})`,
    rules.map(({ id }) => id),
  );
  await otherWork();
}

async function insertRules(
  transaction: Transaction,
  accountId: string,
  policyId: string,
  wanted: readonly WantedRule[],
): Promise<void> {
  const rules = wanted.map(({ cidr, action, ...texts }): IpPolicyRule =>
    withText({ ...ipPolicyRules.begin(accountId), cidr, ip_policy_id: policyId, action }, texts),
  );
  await ipPolicyRules.insertMany(transaction, rules);
  await otherWork();
}

/** In powers of two, so that lists of all lengths share a handful of prepared statements. */
function chunks<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  const parts: (readonly Item[])[] = [];
  let size = rowsAtOnce;
  for (let at = 0; at < items.length; at += size) {
    while (size > items.length - at) size /= 2;
    parts.push(items.slice(at, at + size));
  }
  return parts;
}

/** A long list must not keep traffic of this process waiting. */
function otherWork(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}
