import { useState } from 'react';
import { Link } from 'wouter';

import type { Change } from '../../../../client/src/index.ts';
import { useList } from '../../api/queries.ts';
import { Button, ButtonGroup, ButtonLink } from '../../components/button.tsx';
import { Id } from '../../components/copy.tsx';
import { Diff } from '../../components/diff.tsx';
import { Facts, Panel } from '../../components/page.tsx';
import { useMayWrite } from '../../components/rights.tsx';
import { Sheet } from '../../components/sheet.tsx';
import { formatNumber, nameOf } from '../../lib/text.ts';
import { formatExactly } from '../../lib/time.ts';
import { actionWords, kindWord, pathOfResource } from './change-words.ts';
import { RevertDialog } from './revert-dialog.tsx';

const views = [
  ['changed', 'Changed'],
  ['all', 'All fields'],
] as const;

/** The key or session of the call. */
function By({ change: { actor, key_id: keyId, scope } }: { readonly change: Change }) {
  const { data: keys } = useList('ApiKeysList');
  if (actor === 'host') return 'the command line of the host';
  if (actor === 'provider') return 'groups at the identity provider';
  if (keyId === undefined && scope === 'dashboard') return 'a dashboard session, begun at the identity provider';
  if (keyId === undefined) return <span className="muted">not recorded</span>;
  const key = keys?.find(({ id }) => id === keyId);
  const name = nameOf(key ?? { id: keyId });
  return (
    <>
      {scope === 'dashboard' ? 'a dashboard session, begun with the key ' : 'the key '}
      {key === undefined ? `${name}, which is gone` : <Link to={`/api-keys/${keyId}`}>{name}</Link>}
    </>
  );
}

/** One change: who, what, before and after. */
export function ChangeSheet({
  change,
  title,
  who,
  onClose,
}: {
  readonly change: Change;
  readonly title: string;
  readonly who: string;
  readonly onClose: () => void;
}) {
  const [view, setView] = useState<'changed' | 'all'>('changed');
  const [isReverting, setReverting] = useState(false);
  const mayRevert = useMayWrite('admins');
  const path = pathOfResource(change);
  return (
    <Sheet title={title} onClose={onClose}>
      <Facts
        list
        facts={[
          ['Who', who],
          ['By', <By key="by" change={change} />],
          change.source === undefined ? undefined : ['From', <code key="from">{change.source}</code>],
          [
            'When',
            <time key="at" dateTime={change.created_at}>
              {formatExactly(change.created_at)}
            </time>,
          ],
          ['What', `${actionWords[change.action]} · ${kindWord(change.kind)}`],
          ['Configuration', `${formatNumber(change.version - 1)} → ${formatNumber(change.version)}`],
          ['Resource', <Id key="resource" id={change.resource_id} />],
          ['Operation', <Id key="operation" id={change.operation_id} />],
        ]}
      />
      <Panel
        title="Before → after"
        flush
        action={
          change.action === 'update' ? (
            <ButtonGroup label="Fields" value={view} options={views} onChange={setView} />
          ) : undefined
        }
      >
        <Diff before={change.before} after={change.after} whole={view === 'all'} />
      </Panel>
      <div className="row wrap">
        {mayRevert ? (
          <Button small onClick={() => setReverting(true)}>
            Revert…
          </Button>
        ) : null}
        <ButtonLink small to={`/changes?at=${change.version - 1}`}>
          The configuration before this
        </ButtonLink>
        {path === undefined ? null : (
          <>
            <ButtonLink small to={path}>
              Open the {kindWord(change.kind).replace(/^.* of an? /, '')}
            </ButtonLink>
            <ButtonLink small to={`/changes?resource=${change.resource_id}`}>
              All its changes
            </ButtonLink>
          </>
        )}
      </div>
      {isReverting ? <RevertDialog change={change} title={title} onClose={() => setReverting(false)} /> : null}
    </Sheet>
  );
}
