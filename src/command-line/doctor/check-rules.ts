import { isEmpty, isEverybody } from '../../lib/ip/address-sets.ts';
import { parseCidr } from '../../lib/ip/cidr.ts';
import { coverRules, RuleColumns } from '../../lib/ip/rule-coverage.ts';
import { someNames } from '../../lib/some-names.ts';
import { finishNow } from '../../lib/steps.ts';
import type { Queries } from '../../store/database.ts';
import { ok, warning } from './finding.ts';
import type { Finding } from './finding.ts';

const subject = 'rules';
const rowsAtOnce = 2_000;
/** Rules that are read; a policy with more than are left is not looked at. */
const mostRules = 1_000_000;
/** Policies that are named. */
const mostNamed = 20;
const remedy = '"gatehouse rule-findings get" names the rules';

type Read = Pick<Queries, 'all'>;

/** IP policies of all accounts with rules that never decide, and restrictions that let everybody or nobody in. */
export async function checkRules(queries: Read): Promise<readonly Finding[]> {
  const policies = await queries.all('SELECT id, rule_set FROM ip_policies ORDER BY id');
  const rules = new Map<string, RuleColumns>();
  const findings: Finding[] = [];
  let left = mostRules;
  let idlePolicies = 0;
  for (const [id, set] of policies) {
    const columns = await readRules(queries, Number(set), left);
    if (columns === undefined) continue;
    left -= columns.count;
    rules.set(String(id), columns);
    const idle = describeIdle(columns);
    if (idle === undefined) continue;
    idlePolicies += 1;
    if (idlePolicies <= mostNamed) findings.push(warning(subject, `${String(id)}: ${idle}`));
  }
  if (idlePolicies > mostNamed)
    findings.push(
      warning(subject, `${idlePolicies - mostNamed} more IP policies have rules that never decide: ${remedy}`),
    );
  findings.push(...(await checkRestrictions(queries, rules)));
  if (rules.size < policies.length)
    findings.push(
      warning(subject, `${policies.length - rules.size} IP policies are too large to be looked at here: ${remedy}`),
    );
  return findings.length > 0
    ? findings
    : [ok(subject, `each rule of ${policies.length} IP policies decides something`)];
}

async function readRules(queries: Read, set: number, most: number): Promise<RuleColumns | undefined> {
  const columns = new RuleColumns();
  const sql = `SELECT cidr, action FROM ip_policy_rule_rows WHERE set_id = $1 AND cidr > $2 ORDER BY cidr LIMIT ${rowsAtOnce}`;
  for (let after = ''; ;) {
    const rows = await queries.all(sql, [set, after]);
    if (columns.count + rows.length > most) return undefined;
    for (const [cidr, action] of rows) {
      const parsed = parseCidr(String(cidr));
      if (parsed.ok) columns.append(parsed.cidr, action === 'deny' ? 'deny' : 'allow');
    }
    if (rows.length < rowsAtOnce) return columns;
    after = String(rows.at(-1)?.[0]);
  }
}

/** Undefined where each rule decides, as far as its own policy tells: a denial may be there for other policies. */
function describeIdle(columns: RuleColumns): string | undefined {
  const coverage = finishNow(coverRules(columns));
  let count = 0;
  let first: string | undefined;
  for (const family of ['ipv4', 'ipv6'] as const) {
    for (let row = 0; row < columns[family].count; row++) {
      const kind = coverage[family].kindOf(row);
      if (kind === undefined || kind === 'needless') continue;
      count += 1;
      if (first !== undefined) continue;
      const [rule, by] = [columns.ruleAt(family, row), columns.ruleAt(family, coverage[family].decidedBy(row))];
      first = `"${rule.action} ${rule.cidr}", because of "${by.action} ${by.cidr}"`;
    }
  }
  if (first === undefined) return undefined;
  const more = count === 1 ? '' : ` and ${count - 1} more`;
  return `a rule never decides: ${first}${more}. Delete it, or narrow the other; ${remedy}`;
}

async function checkRestrictions(queries: Read, rules: ReadonlyMap<string, RuleColumns>): Promise<readonly Finding[]> {
  const rows = await queries.all(
    `SELECT r.id, u.used_id FROM ip_restrictions r JOIN ip_policies_uses u ON u.user_id = r.id WHERE r.enforced = 1 ORDER BY r.id, u.used_id`,
  );
  const lists = Map.groupBy(rows, ([id]) => String(id));
  const told = { everybody: [] as string[], nobody: [] as string[] };
  for (const [id, used] of lists) {
    const all = new RuleColumns();
    const columns = used.map(([, policy]) => rules.get(String(policy)));
    if (columns.includes(undefined)) continue;
    for (const each of columns) if (each !== undefined) all.appendAll(each);
    const { admitted } = finishNow(coverRules(all));
    if (isEmpty(admitted)) told.nobody.push(id);
    else if (isEverybody(admitted)) told.everybody.push(id);
  }
  const say = (ids: readonly string[], word: string, what: string): readonly Finding[] =>
    ids.length === 0
      ? []
      : [
          warning(
            subject,
            `the IP policies of ${someNames(ids, 'and')} let ${word} in, although it is enforced. ${what}`,
          ),
        ];
  return [
    ...say(told.nobody, 'nobody', 'Add a rule that allows, or stop enforcing it'),
    ...say(told.everybody, 'everybody', 'Narrow its rules, or delete it'),
  ];
}
