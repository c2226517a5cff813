import { useMemo, useState } from 'react';

import type { IpPolicy } from '../../../../client/src/index.ts';
import { useRuleFindings } from '../../api/rule-findings.ts';
import type { RuleFinding } from '../../api/rule-findings.ts';
import { Button } from '../../components/button.tsx';
import { CopyButton, Id } from '../../components/copy.tsx';
import { FilterChoice } from '../../components/filter-choice.tsx';
import { Empty, ErrorState } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { Verdict } from '../../components/verdict.tsx';
import { WindowedTable } from '../../components/windowed-table.tsx';
import type { WindowColumn } from '../../components/windowed-table.tsx';
import { rangesContaining } from '../../lib/address.ts';
import { formatNumber } from '../../lib/text.ts';
import { reasonText } from '../../parts/rule-findings.tsx';
import { useUrlState } from '../../lib/url-state.ts';
import { DeleteRule } from './delete-rule.tsx';
import type { Rule, Rules } from './use-rules.ts';

const actionOptions = [
  ['allow', 'allow'],
  ['deny', 'deny'],
] as const;
const families = [
  ['IPv4', 'IPv4'],
  ['IPv6', 'IPv6'],
] as const;

/** The rules of a policy, however many: only the rows that are seen exist. */
export function RuleTable({
  policy,
  rules,
  mayWrite,
  onAdd,
}: {
  readonly policy: IpPolicy;
  readonly rules: Rules;
  readonly mayWrite: boolean;
  readonly onAdd: () => void;
}) {
  const [params, setParams] = useUrlState();
  const [leaving, setLeaving] = useState<Rule>();
  const [seen, setSeen] = useState('');
  const q = (params.get('q') ?? '').trim();
  const action = params.get('action');
  const family = params.get('family');
  const shown = useMemo(() => filterRules(rules.rules, q, action, family), [rules.rules, q, action, family]);
  const isFiltered = q !== '' || action !== null || family !== null;
  const total = (rules.totals?.allow ?? 0) + (rules.totals?.deny ?? 0);
  const hasDescriptions = useMemo(() => shown.some(({ description = '' }) => description !== ''), [shown]);
  const findings = useRuleFindings(policy.id).data?.findings;
  const idle = useMemo(() => idleRules(findings ?? []), [findings]);
  const columns = useMemo(
    () => columnsOf(hasDescriptions, idle, mayWrite ? setLeaving : undefined),
    [hasDescriptions, idle, mayWrite],
  );
  return (
    <section className="stack tight">
      <div className="bar">
        <input
          className="input"
          type="search"
          placeholder="CIDR, or an address to find its rules"
          aria-label="Filter rules"
          aria-keyshortcuts="f"
          value={params.get('q') ?? ''}
          onChange={(event) => setParams({ q: event.target.value })}
        />
        <FilterChoice name="action" label="Action" options={actionOptions} />
        <FilterChoice name="family" label="Family" options={families} />
        <span className="grow" />
        <span className="muted nowrap" role="status">
          {isFiltered ? `${formatNumber(shown.length)} of ${formatNumber(total)} rules` : seen}
          {rules.isComplete || rules.totals === undefined ? '' : `, ${formatNumber(rules.rules.length)} read`}
        </span>
      </div>
      <div className="panel flush">
        {rules.error !== undefined ? (
          <ErrorState title="The rules could not be read" error={rules.error} onRetry={rules.retry} />
        ) : rules.totals !== undefined && total === 0 ? (
          <Empty
            icon="list"
            title="No rules"
            action={mayWrite ? <Button onClick={onAdd}>Add a rule</Button> : undefined}
          >
            Without a rule that allows, the policy lets nobody in.
          </Empty>
        ) : isFiltered && shown.length === 0 && rules.isComplete ? (
          <Empty
            icon="filter"
            title={rangesContaining(q) === undefined ? 'No rule fits the filter' : `No rule contains ${q}`}
            action={
              <Button onClick={() => setParams({ q: undefined, action: undefined, family: undefined })}>
                Clear the filter
              </Button>
            }
          >
            What no rule allows is refused.
          </Empty>
        ) : (
          <WindowedTable
            label="Rules"
            columns={columns}
            rows={shown}
            rowCount={isFiltered ? shown.length : Math.max(total, shown.length)}
            keyOf={({ id }) => id}
            onSeen={(first, last, count) =>
              setSeen(`Rows ${formatNumber(first)} to ${formatNumber(last)} of ${formatNumber(count)}`)
            }
          />
        )}
      </div>
      {leaving === undefined ? null : (
        <DeleteRule policy={policy} rules={rules} rule={leaving} onClose={() => setLeaving(undefined)} />
      )}
    </section>
  );
}

/** An address finds the rules that contain it; any other text those that have it in CIDR, description or id. */
function filterRules(rules: readonly Rule[], q: string, action: string | null, family: string | null): readonly Rule[] {
  if (q === '' && action === null && family === null) return rules;
  const ranges = rangesContaining(q);
  const text = q.toLowerCase();
  return rules.filter(
    (rule) =>
      (action === null || rule.action === action) &&
      (family === null || rule.cidr.includes(':') === (family === 'IPv6')) &&
      (q === '' ||
        (ranges === undefined
          ? `${rule.cidr} ${rule.description ?? ''} ${rule.id}`.toLowerCase().includes(text)
          : ranges.has(rule.cidr))),
  );
}

function idleColumn(idle: ReadonlyMap<string, string>): WindowColumn<Rule> {
  return {
    id: 'idle',
    head: 'Never decides',
    // The panel above says the same where there is no room.
    width: '240px',
    className: 'p2',
    cell: ({ id }) => {
      const reason = idle.get(id);
      return reason === undefined ? null : (
        <span className="main" title={reason}>
          <Verdict tone="warn">{reason}</Verdict>
        </span>
      );
    },
  };
}

/** Reasons why rules never decide, by their ids. */
function idleRules(findings: readonly RuleFinding[]): ReadonlyMap<string, string> {
  return new Map(
    findings.flatMap((finding) => (finding.rule === null ? [] : [[finding.rule.id, reasonText(finding)] as const])),
  );
}

function columnsOf(
  hasDescriptions: boolean,
  idle: ReadonlyMap<string, string>,
  onDelete: ((rule: Rule) => void) | undefined,
): readonly WindowColumn<Rule>[] {
  const columns: WindowColumn<Rule>[] = [
    {
      id: 'cidr',
      head: 'CIDR',
      cell: ({ cidr, description = '' }) => (
        <>
          <span className="id">
            <span>{cidr}</span>
            <CopyButton text={cidr} />
          </span>
          {/* Every row has this line or none has: all rows of a window are equally high. */}
          {hasDescriptions ? <span className="sub m1">{description === '' ? '\u00a0' : description}</span> : null}
        </>
      ),
    },
    {
      id: 'action',
      head: 'Action',
      width: '96px',
      cell: ({ action }) => (
        <Verdict tone={action === 'allow' ? 'allow' : 'deny'}>{action === 'allow' ? 'Allow' : 'Deny'}</Verdict>
      ),
    },
    ...(idle.size === 0 ? [] : [idleColumn(idle)]),
    {
      id: 'description',
      head: 'Description',
      width: idle.size === 0 ? '32%' : '20%',
      className: 'p1 soft',
      cell: ({ description = '' }) => description,
    },
    {
      id: 'created',
      head: 'Created',
      width: '120px',
      className: idle.size === 0 ? 'p2' : 'p3',
      cell: ({ created_at: at }) => <Time at={at} />,
    },
    { id: 'id', head: 'Id', width: '190px', className: 'p3', cell: ({ id }) => <Id id={id} muted /> },
  ];
  if (onDelete === undefined) return columns;
  const actions: WindowColumn<Rule> = {
    id: 'actions',
    head: '',
    width: '56px',
    cell: (rule) => (
      <Button
        small
        look="ghost"
        icon="trash"
        aria-label={`Delete the rule ${rule.cidr}`}
        onClick={() => onDelete(rule)}
      />
    ),
  };
  return [...columns, actions];
}
