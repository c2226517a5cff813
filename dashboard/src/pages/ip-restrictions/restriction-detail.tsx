import { Link } from 'wouter';

import type { IpRestriction, Reply } from '../../../../client/src/index.ts';
import { useList, useOne } from '../../api/queries.ts';
import type { WarningWindow } from '../../api/warnings.ts';
import { useCrumb } from '../../components/crumb.tsx';
import { Button } from '../../components/button.tsx';
import { Id } from '../../components/copy.tsx';
import { Detail } from '../../components/detail.tsx';
import { EditActs } from '../../components/edit-panel.tsx';
import { Facts, PageHead, Panel } from '../../components/page.tsx';
import { LookOnly, useMayWrite } from '../../components/rights.tsx';
import { Time } from '../../components/time.tsx';
import { Badge, VerdictBox } from '../../components/verdict.tsx';
import { byteLength } from '../../lib/bytes.ts';
import { nameOf } from '../../lib/text.ts';
import { useUrlState } from '../../lib/url-state.ts';
import { DeleteRestriction } from './delete-restriction.tsx';
import { EditRestriction } from './edit-restriction.tsx';
import { EnforceDialog } from './enforce-dialog.tsx';
import { RestrictionState } from './restriction-state.tsx';
import { guards } from './restriction-words.ts';
import { SafeToEnforce } from './safe-to-enforce.tsx';
import { SourcesTable } from './sources-table.tsx';
import { sourcesOf, useStanding } from './standing.ts';
import { WarnDialog } from './warn-dialog.tsx';
import { WarningsChart } from './warnings-chart.tsx';
import { YouStay } from './you-stay.tsx';

export function RestrictionDetail({ id }: { readonly id: string }) {
  const read = useOne('IpRestrictionsGet', { path: { id } });
  return (
    <Detail read={read} noun="restriction" listPath="/ip-restrictions">
      {(reply) => <Shown reply={reply} reread={read.reread} />}
    </Detail>
  );
}

interface ShownProps {
  readonly reply: Reply<IpRestriction>;
  readonly reread: () => Promise<Reply<IpRestriction>>;
}

function Shown({ reply, reread }: ShownProps) {
  const restriction = reply.document;
  const [params, setParams] = useUrlState();
  const mayWrite = useMayWrite('admins');
  const standing = useStanding(restriction);
  useCrumb(nameOf(restriction));
  const open = (name: string) => () => setParams({ [name]: '1' });
  const close = (name: string) => () => setParams({ [name]: undefined });
  const isOpen = (name: string): boolean => params.has(name) && mayWrite;
  return (
    <>
      <PageHead
        title={nameOf(restriction)}
        badge={
          <>
            <RestrictionState isEnforced={restriction.enforced} />
            <Badge>{restriction.type}</Badge>
          </>
        }
        lead={guards[restriction.type]}
        actions={mayWrite && !params.has('edit') ? <EditActs /> : undefined}
      />
      <LookOnly what="IP restrictions" who="admins" />
      {isOpen('edit') ? <EditRestriction seen={reply} reread={reread} onClose={close('edit')} /> : null}
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
      <RestrictionFacts restriction={restriction} />
      {isOpen('enforce') && !restriction.enforced ? (
        <EnforceDialog seen={reply} reread={reread} standing={standing.standing} onClose={close('enforce')} />
      ) : null}
      {isOpen('warn') && restriction.enforced ? (
        <WarnDialog seen={reply} reread={reread} onClose={close('warn')} />
      ) : null}
      {isOpen('delete') ? (
        <DeleteRestriction restriction={restriction} etag={reply.etag} onClose={close('delete')} />
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
      actions={mayWrite ? <Button onClick={onWarn}>Turn back to warning…</Button> : undefined}
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

function RestrictionFacts({ restriction }: { readonly restriction: IpRestriction }) {
  const { data: policies = [] } = useList('IpPoliciesList');
  const { metadata } = restriction;
  return (
    <Panel title="Details">
      <Facts
        facts={[
          [
            'Policies',
            restriction.ip_policies.map(({ id }) => (
              <div key={id}>
                <Link to={`/ip-policies/${id}`}>{nameOf(policies.find((policy) => policy.id === id) ?? { id })}</Link>
              </div>
            )),
          ],
          ['Id', <Id key="id" id={restriction.id} />],
          ['Created', <Time key="at" at={restriction.created_at} />],
          metadata === undefined || metadata === ''
            ? undefined
            : [`Metadata, ${byteLength(metadata)} of 4096 bytes`, <code key="metadata">{metadata}</code>],
        ]}
      />
    </Panel>
  );
}
