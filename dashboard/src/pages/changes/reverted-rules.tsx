import { LongDiff } from '../../components/diff.tsx';
import type { DiffLine } from '../../lib/diff.ts';
import { countOf, formatNumber } from '../../lib/text.ts';

/** Rules of a policy on one side of a revert. */
interface Rules {
  readonly count: number;
  /** Rules that the other side does not have, such as "deny 192.0.2.0/24 · ticket 7". */
  readonly differing: readonly string[];
  /** The document without them; undefined where there is nothing else. */
  readonly rest: object | undefined;
}

type RuleEntry = string | { readonly cidr: string; readonly action?: string; readonly description?: string };

/** Undefined for a document of anything but a policy whose rules change. */
export function rulesOf(document: Readonly<Record<string, unknown>> | null): Rules | undefined {
  const { rules_that_differ: differing, rules, id: _id, ...rest } = document ?? {};
  if (!Array.isArray(differing)) return undefined;
  return {
    count: Number(rules),
    // The form in which the API gives rules.
    differing: (differing as readonly RuleEntry[]).map((entry) => ruleText(entry)),
    rest: Object.keys(rest).length === 0 ? undefined : rest,
  };
}

function ruleText(entry: RuleEntry): string {
  if (typeof entry === 'string') return entry.startsWith('!') ? `deny ${entry.slice(1)}` : `allow ${entry}`;
  const { cidr, action = 'allow', description } = entry;
  return `${action} ${cidr}${description === undefined || description === '' ? '' : ` · ${description}`}`;
}

/** Says how many rules go and come back, then which. */
export function RevertedRules({
  before,
  after,
}: {
  readonly before: Rules | undefined;
  readonly after: Rules | undefined;
}) {
  const [going, coming] = [before?.differing ?? [], after?.differing ?? []];
  const lines: readonly DiffLine[] = [
    ...going.map((text): DiffLine => ({ kind: 'del', text })),
    ...coming.map((text): DiffLine => ({ kind: 'add', text })),
  ];
  return (
    <>
      <p className="pad">
        <b className="strong">
          {going.length === 0 ? 'No rule goes' : countOf(going.length, 'rule goes', 'rules go')},{' '}
          {coming.length === 0
            ? 'none comes back'
            : `${formatNumber(coming.length)} ${coming.length === 1 ? 'comes' : 'come'} back`}
        </b>
        : {countOf(before?.count ?? 0, 'rule', 'rules')} now, {formatNumber(after?.count ?? 0)} afterwards.
      </p>
      <LongDiff lines={lines} />
    </>
  );
}
