import { Link } from 'wouter';

import type { IpRestriction } from '../../../../client/src/index.ts';
import type { WarningWindow } from '../../api/warnings.ts';
import { Button } from '../../components/button.tsx';
import { Id } from '../../components/copy.tsx';
import { Facts, Panel } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { VerdictBox } from '../../components/verdict.tsx';
import { byteLength } from '../../lib/bytes.ts';
import { useUrlState } from '../../lib/url-state.ts';
import { Pictures } from '../../parts/pictures/pictures.tsx';
import { PolicyLinks } from '../../parts/policy-choice.tsx';
import { RefusedLately } from '../../parts/refused-lately.tsx';
import type { Shown } from '../../resource/describe.ts';
import { EnforceDialog, WarnDialog } from './enforce-dialog.tsx';
import { SafeToEnforce } from './safe-to-enforce.tsx';
import { SourcesTable } from './sources-table.tsx';
import { sourcesOf, useStanding } from './standing.ts';
import { WarningsChart } from './warnings-chart.tsx';
import { YouStay } from './you-stay.tsx';

/** Whether it is safe to enforce, whom it would refuse, and the way from warning to enforced and back. */
export function RestrictionPanels({ reply, document: restriction, reread, mayWrite }: Shown<IpRestriction>) {
  const [params, setParams] = useUrlState();
  const standing = useStanding(restriction);
  const open = (name: string) => () => setParams({ [name]: '1' });
  const close = (name: string) => () => setParams({ [name]: undefined });
  const isOpen = (name: string): boolean => params.has(name) && mayWrite;
  return (
    <>
      {restriction.enforced ? (
        <Enforced restriction={restriction} mayWrite={mayWrite} onWarn={open('warn')} />
      ) : (
        <>
          <SafeToEnforce
            restriction={restriction}
            read={standing}
            mayWrite={mayWrite}
            onEnforce={open('enforce')}
            onDecide={showSources}
          />
          <Warnings restriction={restriction} standing={standing} mayWrite={mayWrite} />
        </>
      )}
      {restriction.type === 'endpoints' ? (
        <Pictures
          of={{ restriction: restriction.id }}
          kind="against"
          title="Whom it refused or warned of"
          note="Visitors of edges and endpoints. Whom another rule refused first is not among them."
        />
      ) : null}
      <RestrictionFacts restriction={restriction} />
      {isOpen('enforce') && !restriction.enforced ? (
        <EnforceDialog seen={reply} reread={reread} standing={standing.standing} onClose={close('enforce')} />
      ) : null}
      {isOpen('warn') && restriction.enforced ? (
        <WarnDialog seen={reply} reread={reread} onClose={close('warn')} />
      ) : null}
    </>
  );
}

function showSources(): void {
  const element = document.querySelector<HTMLElement>('#sources');
  element?.scrollIntoView({ block: 'start' });
  element?.querySelector<HTMLElement>('tbody button')?.focus({ preventScroll: true });
}

function Enforced({
  restriction,
  mayWrite,
  onWarn,
}: {
  readonly restriction: IpRestriction;
  readonly mayWrite: boolean;
  readonly onWarn: () => void;
}) {
  return (
    <VerdictBox
      tone="allow"
      title="Enforced: what no rule of its policies allows is refused"
      reason={
        <>
          While it is enforced it counts no warnings. <Link to="/who-gets-in">Who gets in</Link> shows what it does with
          any address.
        </>
      }
      actions={
        <>
          {restriction.type === 'endpoints' ? <RefusedLately of={{ restriction: restriction.id }} /> : null}
          {mayWrite ? <Button onClick={onWarn}>Turn back to warning…</Button> : null}
        </>
      }
    >
      <footer>
        <YouStay restriction={restriction} />
      </footer>
    </VerdictBox>
  );
}

function Warnings({
  restriction,
  standing: { standing },
  mayWrite,
}: {
  readonly restriction: IpRestriction;
  readonly standing: ReturnType<typeof useStanding>;
  readonly mayWrite: boolean;
}) {
  const [params, setParams] = useUrlState();
  if (standing === undefined) return null;
  const range = params.get('range');
  const window: WarningWindow = range === 'hour' || range === 'day' ? range : 'week';
  const summary = standing.windows[window];
  return (
    <>
      {standing.sources.length === 0 ? null : (
        <WarningsChart
          summary={summary}
          type={restriction.type}
          since={restriction.created_at}
          onWindow={(next) => setParams({ range: next === 'week' ? undefined : next })}
        />
      )}
      <SourcesTable
        restriction={restriction}
        sources={sourcesOf(summary)}
        window={window}
        isCut={summary.sources_truncated}
        mayWrite={mayWrite}
      />
    </>
  );
}

function RestrictionFacts({
  restriction: { id, created_at: at, metadata, ip_policies: policies },
}: {
  readonly restriction: IpRestriction;
}) {
  return (
    <Panel title="Details">
      <Facts
        facts={[
          ['Policies', <PolicyLinks key="policies" ids={policies.map((policy) => policy.id)} />],
          ['Id', <Id key="id" id={id} />],
          ['Created', <Time key="at" at={at} />],
          metadata === undefined || metadata === ''
            ? undefined
            : [`Metadata, ${byteLength(metadata)} of 4096 bytes`, <code key="metadata">{metadata}</code>],
        ]}
      />
    </Panel>
  );
}
