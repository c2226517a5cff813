import { useState } from 'react';

import { useList } from '../../api/queries.ts';
import { Button, ButtonLink } from '../../components/button.tsx';
import { Panel } from '../../components/page.tsx';
import { ErrorState, Skeleton } from '../../components/states.tsx';
import { Glyph } from '../../components/verdict.tsx';
import { usePutAwayNeeds } from '../../lib/put-away.ts';
import { formatNumber } from '../../lib/text.ts';
import type { Need } from './need.ts';
import { useNeeds } from './use-needs.tsx';

/** Rows that are shown at first: the figures of traffic stay in sight below them. */
const shownAtFirst = 5;

/** Lists what somebody has to look at, the worst first; a calm line when there is nothing. */
export function NeedsPerson() {
  const restrictions = useList('IpRestrictionsList');
  const needs = useNeeds();
  const away = usePutAwayNeeds();
  const [isWhole, setWhole] = useState(false);
  if (restrictions.error !== undefined && restrictions.data === undefined) {
    return (
      <Panel title="Needs a person" flush>
        <ErrorState
          title="The restrictions could not be read"
          error={restrictions.error}
          onRetry={restrictions.retry}
        />
      </Panel>
    );
  }
  if (needs === undefined) {
    return (
      <Panel title="Needs a person">
        <Skeleton />
      </Panel>
    );
  }
  // Faults that visitors see stay.
  const isAway = ({ key, tone, level }: Need): boolean => tone === 'warn' && away.has(key, level);
  const open = needs.filter((need) => !isAway(need));
  const putAway = needs.length - open.length;
  const bringBack =
    putAway === 0 ? undefined : (
      <Button small onClick={away.bringBack}>
        Show {formatNumber(putAway)} put away until tomorrow
      </Button>
    );
  if (open.length === 0) {
    return (
      <Panel title="Needs a person" action={bringBack}>
        <span className="row">
          <Glyph tone="allow" />
          <span>
            {putAway === 0
              ? 'Nothing. No edge fails, no restriction only warns, no certificate ends soon, every port is open, no quota is near, every rule decides, something guards every edge.'
              : 'Nothing else.'}
          </span>
        </span>
      </Panel>
    );
  }
  const shown = isWhole ? open : open.slice(0, shownAtFirst);
  return (
    <Panel
      title="Needs a person"
      note={String(open.length)}
      flush
      action={bringBack}
      footer={
        shown.length === open.length ? undefined : (
          <Button small onClick={() => setWhole(true)}>
            Show {formatNumber(open.length - shown.length)} more
          </Button>
        )
      }
    >
      <ul className="list">
        {shown.map((need) => (
          <Item key={need.key} need={need} onPutAway={() => away.put(need.key, need.level)} />
        ))}
      </ul>
    </Panel>
  );
}

function Item({
  need: { tone, title, note, action },
  onPutAway,
}: {
  readonly need: Need;
  readonly onPutAway: () => void;
}) {
  return (
    <li className="wraps">
      <Glyph tone={tone} />
      <div className="t">
        <b>{title}</b>
        {note === undefined ? null : <span>{note}</span>}
      </div>
      <span className="row">
        {action === undefined ? null : (
          <ButtonLink small to={action.to}>
            {action.words}
          </ButtonLink>
        )}
        {tone === 'deny' ? null : (
          <Button
            look="ghost"
            small
            icon="close"
            aria-label={`Put away until tomorrow, or until it gets worse: ${title}`}
            title="Put away until tomorrow, or until it gets worse"
            onClick={onPutAway}
          />
        )}
      </span>
    </li>
  );
}
