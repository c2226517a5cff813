import type { ReactNode } from 'react';
import { Link } from 'wouter';

import type { ExplainedMoment } from '../../../../client/src/index.ts';
import { Badge, Glyph } from '../../components/verdict.tsx';
import type { Tone } from '../../components/verdict.tsx';
import { visible } from '../../lib/strangers.ts';
import { shortId } from '../../lib/text.ts';
import type { EdgeNames } from '../../parts/edge-names.ts';
import { moduleTitle } from '../../parts/module-words.ts';
import type { Names } from '../../parts/names.ts';
import { pathOfEdge } from './paths.ts';

export type ExplainedCheck = ExplainedMoment['checks'][number];

export interface Called {
  readonly edges: EdgeNames;
  readonly names: Names;
}

const tones: Readonly<Record<ExplainedCheck['effect'], Tone>> = {
  passes: 'allow',
  warns: 'warn',
  refuses: 'deny',
  depends: 'off',
  answers: 'ask',
  not_served: 'deny',
  not_reached: 'off',
};

/** Everything that a visit meets, in the order of the checks. */
export function ExplainedLadder({
  checks,
  before,
  called,
  children,
}: {
  readonly checks: readonly ExplainedCheck[];
  /** The checks of then, beside which those of today are shown; undefined where there is nothing to compare with. */
  readonly before?: readonly ExplainedCheck[] | undefined;
  readonly called: Called;
  /** The last step, in which it ends. */
  readonly children: ReactNode;
}) {
  return (
    <ol className="ladder">
      {checks.map((check) => (
        <li key={keyOf(check)} className={check.effect === 'not_reached' ? 'skipped' : undefined}>
          <Glyph tone={tones[check.effect]} />
          <div className="t">
            <b>
              <Title check={check} called={called} />
            </b>{' '}
            <Since check={check} before={before} />
            {check.effect === 'depends' ? <Badge tone="warn">Unknown</Badge> : null}
            <p>{check.effect === 'not_reached' ? 'Not reached' : sentence(check.reason)}</p>
            <Rules check={check} names={called.names} />
          </div>
        </li>
      ))}
      {children}
    </ol>
  );
}

export function keyOf({ kind, id, module }: ExplainedCheck): string {
  return `${kind} ${id} ${module ?? ''}`;
}

function Title({
  check: { kind, id, module },
  called: { edges, names },
}: {
  readonly check: ExplainedCheck;
  readonly called: Called;
}) {
  if (kind === 'ip_restriction') {
    return (
      <>
        IP restriction <Link to={`/ip-restrictions/${id}`}>“{names.restriction(id).name}”</Link>
      </>
    );
  }
  if (kind === 'module') return moduleTitle(module ?? '');
  if (kind === 'route') return `Route ${edges.routeMatch(id) ?? shortId(id)}`;
  return (
    <>
      Edge <Link to={pathOfEdge(id)}>{edges.nameOf(id, shortId(id))}</Link>
    </>
  );
}

/** The difference from then. */
function Since({
  check,
  before,
}: {
  readonly check: ExplainedCheck;
  readonly before: readonly ExplainedCheck[] | undefined;
}) {
  if (before === undefined || check.effect === 'not_reached') return null;
  const then = before.find((each) => keyOf(each) === keyOf(check));
  if (then === undefined) return <Badge tone="warn">New since</Badge>;
  // A check that was not reached then may have been as it is today.
  if (then.effect === 'not_reached' || isSame(then, check)) return null;
  return <Badge tone="warn">Changed since</Badge>;
}

function isSame(one: ExplainedCheck, other: ExplainedCheck): boolean {
  const what = ({ effect, rule, ip_policy_ids: policies }: ExplainedCheck) => [
    effect,
    rule?.cidr,
    rule?.action,
    policies,
  ];
  return JSON.stringify(what(one)) === JSON.stringify(what(other));
}

function Rules({
  check: { rule, effect, ip_policy_ids: policies },
  names,
}: {
  readonly check: ExplainedCheck;
  readonly names: Names;
}) {
  if (effect === 'not_reached' || policies.length === 0) return null;
  return (
    <ul className="rules">
      {rule === null ? (
        policies.map((id) => (
          <li key={id}>
            <Link to={`/ip-policies/${id}`}>{names.policy(id)}</Link>
            <span className="end">no rule of it contains the address</span>
          </li>
        ))
      ) : (
        <li className="decides">
          <Glyph tone={rule.action === 'allow' ? 'allow' : 'deny'} />
          <span className="mono">{rule.cidr}</span>
          <span>{rule.action} · decides</span>
          <span className="end">
            <Link to={`/ip-policies/${rule.ip_policy_id}`}>{names.policy(rule.ip_policy_id)}</Link>
          </span>
        </li>
      )}
    </ul>
  );
}

/** Words of the API go on in the middle of a sentence. */
export function sentence(words: string): string {
  const shown = visible(words);
  const end = /[.!?]$/.test(shown) ? '' : '.';
  return `${shown.slice(0, 1).toUpperCase()}${shown.slice(1)}${end}`;
}
