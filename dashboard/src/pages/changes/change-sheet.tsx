import { useState } from 'react';

import type { Change } from '../../../../client/src/index.ts';
import { ButtonGroup, ButtonLink } from '../../components/button.tsx';
import { Id } from '../../components/copy.tsx';
import { Diff } from '../../components/diff.tsx';
import { Facts, Panel } from '../../components/page.tsx';
import { Sheet } from '../../components/sheet.tsx';
import { formatNumber } from '../../lib/text.ts';
import { formatExactly } from '../../lib/time.ts';
import { actionWords, kindWord, pathOfResource } from './change-words.ts';

const views = [
  ['changed', 'Changed'],
  ['all', 'All fields'],
] as const;

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
  const path = pathOfResource(change);
  return (
    <Sheet title={title} onClose={onClose}>
      <Facts
        list
        facts={[
          ['Who', who],
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
      {path === undefined ? null : (
        <div className="row wrap">
          <ButtonLink small to={path}>
            Open the {kindWord(change.kind).replace(/^.* of an? /, '')}
          </ButtonLink>
          <ButtonLink small to={`/changes?resource=${change.resource_id}`}>
            All its changes
          </ButtonLink>
        </div>
      )}
    </Sheet>
  );
}
