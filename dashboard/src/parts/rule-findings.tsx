import { useState } from 'react';
import { Link } from 'wouter';

import { useRuleFindings } from '../api/rule-findings.ts';
import type { RuleFinding } from '../api/rule-findings.ts';
import { useList } from '../api/queries.ts';
import { Banner } from '../components/banner.tsx';
import { Button, ButtonLink } from '../components/button.tsx';
import { Panel } from '../components/page.tsx';
import { Glyph } from '../components/verdict.tsx';
import { countOf, formatNumber, nameOf } from '../lib/text.ts';

/** Kinds about rules that never decide. */
export function isOfRule(finding: RuleFinding): boolean {
  return finding.rule !== null;
}

/** The words of a finding, with names in place of the ids of policies. */
export function useFindingText(): (finding: RuleFinding) => string {
  const { data: policies = [] } = useList('IpPoliciesList');
  const names = new Map(policies.map((policy) => [policy.id, nameOf(policy)]));
  return ({ text, ip_policies: own, decided_by: by }) =>
    [...own, ...(by === null ? [] : [by.ip_policy])].reduce(
      (words, { id }) => words.replaceAll(id, () => names.get(id) ?? id),
      text,
    );
}

/** Why a rule never decides, in a few words, such as "deny 10.0.0.0/8 covers it". */
export function reasonText({ kind, decided_by: by, rule }: RuleFinding): string {
  if (by === null) return kind === 'rule_needless' ? 'nothing allows it' : 'others decide';
  const other = `${by.action} ${by.cidr}`;
  if (kind === 'rule_duplicate') return `the same as ${other}`;
  const isWider = prefixOf(by.cidr) <= prefixOf(rule?.cidr ?? '');
  return `${other} ${isWider ? 'covers it' : 'and others cover it'}`;
}

function prefixOf(cidr: string): number {
  return Number(cidr.slice(cidr.indexOf('/') + 1));
}

/** Findings that are shown at first, and that each press of the button adds. */
const step = 5;

/** What was proved about a policy, on its page; nothing where nothing was found. */
export function PolicyFindings({ policyId }: { readonly policyId: string }) {
  const { data, error } = useRuleFindings(policyId);
  const textOf = useFindingText();
  const [most, setMost] = useState(step);
  if (error !== undefined && data === undefined)
    return <Banner note={error.message}>It is unknown whether all rules decide.</Banner>;
  if (data === undefined || (data.findings.length === 0 && data.is_complete)) return null;
  const { findings, is_complete: isComplete, totals } = data;
  const total = Object.values(totals).reduce((sum, count) => sum + count, 0);
  const left = findings.length - most;
  return (
    <Panel
      title="What the rules do not do"
      note={countOf(total, 'finding', 'findings')}
      flush
      footer={
        left <= 0 ? undefined : (
          <Button small onClick={() => setMost(most + 10 * step)}>
            Show {formatNumber(Math.min(left, 10 * step))} of {formatNumber(left)} more
          </Button>
        )
      }
    >
      <ul className="list">
        {findings.slice(0, most).map((finding) => (
          <li key={`${finding.kind} ${finding.rule?.id ?? ''} ${finding.text}`}>
            <Glyph tone="warn" />
            <span className="t">
              {textOf(finding)} <Decider finding={finding} policyId={policyId} />
            </span>
          </li>
        ))}
        {isComplete ? null : (
          <li>
            <Glyph tone="off" />
            <span className="t">There are more rules than one look goes through: not all of them were looked at.</span>
          </li>
        )}
      </ul>
    </Panel>
  );
}

/** Leads to the rule that decides, where the list can be narrowed to it. */
function Decider({
  finding: { decided_by: by },
  policyId,
}: {
  readonly finding: RuleFinding;
  readonly policyId: string;
}) {
  if (by === null) return null;
  return (
    <Link to={`/ip-policies/${by.ip_policy.id}?q=${encodeURIComponent(by.cidr)}`}>
      See {by.action} {by.cidr}
      {by.ip_policy.id === policyId ? '' : ', in another policy'}
    </Link>
  );
}

/** A place that visitors reach, by the id that findings have. */
interface Door {
  readonly id: string;
  /** Such as the path of a route; left out where the page has only one. */
  readonly name?: string;
}

/** Names that are listed one by one. */
const mostNamed = 5;

/** Says on the page of an edge or endpoint that nothing guards it, or that this is unknown. */
export function OpenDoors({ doors, to }: { readonly doors: readonly Door[]; readonly to: string }) {
  const { data, error } = useRuleFindings();
  if (error !== undefined && data === undefined)
    return <Banner note={error.message}>It is unknown whether something guards it.</Banner>;
  if (data === undefined) return null;
  const of = (kind: RuleFinding['kind']) => {
    const ids = new Set(data.findings.filter((finding) => finding.kind === kind).flatMap(({ used_by: own }) => own));
    return doors.filter(({ id }) => ids.has(id));
  };
  const [open, unknown] = [of('unguarded'), of('cannot_tell')];
  const isCut = !data.is_complete || cut.some((kind) => (data.totals[kind] ?? 0) > mostOfKind);
  if (open.length + unknown.length === 0 && !isCut) return null;
  const link = (
    <ButtonLink small to={to}>
      Who gets in here
    </ButtonLink>
  );
  return (
    <>
      {open.length === 0 ? null : (
        <Banner note="If that is not meant, give it a login or an IP restriction." actions={link}>
          Nothing guards {namesOf(open)}: anybody reaches {open.length === 1 ? 'it' : 'them'}.
        </Banner>
      )}
      {unknown.length === 0 ? null : (
        <Banner note="A traffic policy decides by each visit: try visitors." actions={link}>
          It is unknown whether something guards {namesOf(unknown)}.
        </Banner>
      )}
      {open.length + unknown.length === 0 ? (
        <Banner note="The account has more rules, edges or endpoints than one look goes through." actions={link}>
          It is unknown whether something guards it.
        </Banner>
      ) : null}
    </>
  );
}

/** Kinds whose list may be cut. */
const cut = ['unguarded', 'cannot_tell'] as const;
/** Findings of a kind that the server lists; all are counted. */
const mostOfKind = 250;

function namesOf(doors: readonly Door[]): string {
  const names = doors.map(({ name = 'it' }) => name);
  const left = names.length - mostNamed;
  return `${names.slice(0, mostNamed).join(', ')}${left > 0 ? ` and ${formatNumber(left)} more` : ''}`;
}
