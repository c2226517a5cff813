import type { ReactNode } from 'react';
import { Link } from 'wouter';

import type { IconName } from '../components/icon.tsx';
import { Panel } from '../components/page.tsx';
import { Empty } from '../components/states.tsx';
import { Glyph } from '../components/verdict.tsx';
import type { Tone } from '../components/verdict.tsx';
import { formatNumber } from '../lib/text.ts';

/** A thing that belongs to or uses another one. */
export interface Use {
  readonly id: string;
  readonly text: ReactNode;
  readonly to?: string;
  readonly end?: ReactNode;
  readonly tone?: Tone;
}

/** Uses as lines of the dialog that asks before a deletion; undefined where there are none. */
export function linesOf(uses: readonly Use[]): ReactNode {
  if (uses.length === 0) return undefined;
  return (
    <ul className="rules">
      {uses.map(({ id, text, to, end, tone }) => (
        <li key={id}>
          {tone === undefined ? null : <Glyph tone={tone} />}
          <span className="grow">{to === undefined ? text : <Link to={to}>{text}</Link>}</span>
          {end === undefined ? null : <span className="end">{end}</span>}
        </li>
      ))}
    </ul>
  );
}

/** Said where the change log holds all that is needed to make a thing again. */
export const canBeReverted = 'An admin can revert this in the change log.';

/** Words of a button for what is not deleted while it is used. */
export function stillUsed(count: number): string | undefined {
  return count === 0 ? undefined : `Still used by ${formatNumber(count)}`;
}

/** A panel of links to them. */
export function UsesPanel({
  title,
  note,
  uses,
  icon,
  none,
  children,
}: {
  readonly title: string;
  readonly note?: string;
  readonly uses: readonly Use[];
  readonly icon: IconName;
  /** Said where there are none, with `children` below it. */
  readonly none: string;
  readonly children: string;
}) {
  return (
    <Panel title={title} note={note ?? String(uses.length)} flush>
      {uses.length === 0 ? (
        <Empty icon={icon} title={none}>
          {children}
        </Empty>
      ) : (
        <ul className="list">
          {uses.map(({ id, text, to, end }) => (
            <li key={id}>
              {to === undefined ? (
                <span className="grow">{text}</span>
              ) : (
                <Link className="grow" to={to}>
                  {text}
                </Link>
              )}
              {end === undefined ? null : <span className="muted">{end}</span>}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
