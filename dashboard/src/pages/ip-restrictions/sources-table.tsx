import { useMemo, useState } from 'react';
import { Link } from 'wouter';

import type { IpRestriction } from '../../../../client/src/index.ts';
import { client } from '../../api/client.ts';
import { useAct } from '../../api/queries.ts';
import type { WarningWindow } from '../../api/warnings.ts';
import { Button } from '../../components/button.tsx';
import { CopyButton } from '../../components/copy.tsx';
import { LetInDialog } from '../../parts/let-in-dialog.tsx';
import { Panel } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { Empty } from '../../components/states.tsx';
import { Table } from '../../components/table.tsx';
import type { Column } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { Verdict } from '../../components/verdict.tsx';
import { saveCsv } from '../../lib/csv.ts';
import { formatNumber } from '../../lib/text.ts';
import { denyingRule, useCheck } from './check.ts';

import { addressesOf, callsHead, callsOf, windowWords } from './restriction-words.ts';
import type { Source } from './standing.ts';

/** Addresses that are shown before somebody asks for all of them. */
const firstShown = 50;

export function SourcesTable({
  restriction,
  sources,
  window,
  isCut,
  mayWrite,
}: {
  readonly restriction: IpRestriction;
  readonly sources: readonly Source[];
  readonly window: WarningWindow;
  /** There were more addresses than the server lists. */
  readonly isCut: boolean;
  readonly mayWrite: boolean;
}) {
  const [lettingIn, setLettingIn] = useState<string>();
  const denying = denyingRule(useCheck(restriction, lettingIn));
  const [shown, setShown] = useState(firstShown);
  const pathOf = ({ ip }: Source) => ({ id: restriction.id, ip });
  const decide = useAct((source: Source, isRefused: boolean) =>
    isRefused
      ? client.call('IpRestrictionDecisionsReplace', { path: pathOf(source), body: { decision: 'refuse_on_purpose' } })
      : client.call('IpRestrictionDecisionsDelete', { path: pathOf(source) }),
  );
  const { run } = decide;
  const columns = useMemo(
    () => columnsOf(restriction, mayWrite ? { letIn: setLettingIn, decide: run } : undefined),
    [restriction, mayWrite, run],
  );
  return (
    <div id="sources" tabIndex={-1}>
      <Panel
        title="Who would be refused"
        note={`${addressesOf(sources.length)}, ${windowWords[window]}`}
        flush
        action={
          sources.length === 0 ? undefined : (
            <span className="p1">
              <Button small icon="download" onClick={() => saveSources(restriction, sources)}>
                Export CSV
              </Button>
            </span>
          )
        }
        footer={
          <>
            <span className="grow">
              {isCut ? 'Only the 1,000 addresses that came most often are listed. ' : ''}
              “Let in” adds an allow rule to a policy of your choice. “Refuse” only records that you know; it changes no
              rule.
            </span>
            {sources.length > shown ? (
              <Button small onClick={() => setShown(sources.length)}>
                Show all {formatNumber(sources.length)}
              </Button>
            ) : null}
          </>
        }
      >
        {decide.error === undefined ? null : (
          <div className="pad">
            <Problem error={decide.error} />
          </div>
        )}
        {sources.length === 0 ? (
          <Empty icon="shield" title={`Nobody in the ${windowWords[window]}`}>
            Addresses that this restriction would refuse are listed here as soon as they come.
          </Empty>
        ) : (
          <Table label="Who would be refused" columns={columns} rows={sources.slice(0, shown)} keyOf={({ ip }) => ip} />
        )}
      </Panel>
      {lettingIn === undefined ? null : (
        <LetInDialog
          ip={lettingIn}
          policyIds={restriction.ip_policies.map(({ id }) => id)}
          denyingRule={denying}
          onClose={() => setLettingIn(undefined)}
        />
      )}
    </div>
  );
}

interface Acts {
  readonly letIn: (ip: string) => void;
  readonly decide: (source: Source, isRefused: boolean) => unknown;
}

function columnsOf(restriction: IpRestriction, acts: Acts | undefined): readonly Column<Source>[] {
  const { type } = restriction;
  return [
    {
      id: 'address',
      head: 'Address',
      cell: ({ ip, count, last_at: last }) => (
        <>
          <span className="row address">
            <Link className="mono plain" to={`/who-gets-in?ip=${encodeURIComponent(ip)}`} data-row-link>
              {ip}
            </Link>
            <span className="p1">
              <CopyButton text={ip} />
            </span>
          </span>
          <span className="sub m1">
            {callsOf(count, type)}, <Time at={last} />
          </span>
        </>
      ),
    },
    { id: 'calls', head: callsHead(type), priority: 'p1', isNumber: true, cell: ({ count }) => formatNumber(count) },
    {
      id: 'seen',
      head: 'Last seen',
      priority: 'p2',
      cell: ({ first_at: first, last_at: last }) => (
        <>
          <Time at={last} />
          <span className="sub">
            first <Time at={first} />
          </span>
        </>
      ),
    },
    { id: 'why', head: 'Why', priority: 'p3', cell: ({ ip }) => <Why ip={ip} restriction={restriction} /> },
    {
      id: 'decision',
      head: 'Decision',
      isNarrow: true,
      isRight: true,
      cell: (source) => <Decision source={source} acts={acts} />,
    },
  ];
}

/** The rule that decides now. */
function Why({ ip, restriction }: { readonly ip: string; readonly restriction: IpRestriction }) {
  const check = useCheck(restriction, ip);
  if (check === undefined) return null;
  return (
    <span className="soft">
      {check.rule === null ? (
        'No rule contains it'
      ) : (
        <>
          {check.rule.action === 'allow' ? 'Allowed' : 'Denied'} by <code>{check.rule.cidr}</code>
        </>
      )}
    </span>
  );
}

function Decision({ source, acts }: { readonly source: Source; readonly acts: Acts | undefined }) {
  if (source.state === 'let in since') return <Verdict tone="allow">Let in since</Verdict>;
  if (source.state === 'refused on purpose') {
    return (
      <span className="row end">
        <Verdict tone="deny">Refuse</Verdict>
        {acts === undefined ? null : (
          <Button
            small
            look="ghost"
            onClick={() => acts.decide(source, false)}
            aria-label={`Undo the decision on ${source.ip}`}
          >
            Undo
          </Button>
        )}
      </span>
    );
  }
  if (acts === undefined) return <Verdict tone="warn">Undecided</Verdict>;
  return (
    <span className="row end">
      <Button small onClick={() => acts.letIn(source.ip)} aria-label={`Let in… ${source.ip}`}>
        Let in…
      </Button>
      <Button small onClick={() => acts.decide(source, true)} aria-label={`Refuse ${source.ip} on purpose`}>
        Refuse
      </Button>
    </span>
  );
}

function saveSources({ id }: IpRestriction, sources: readonly Source[]): void {
  saveCsv(`${id}-warnings.csv`, [
    ['address', 'count', 'first_at', 'last_at', 'state'],
    ...sources.map(({ ip, count, first_at: first, last_at: last, state }) => [ip, String(count), first, last, state]),
  ]);
}
