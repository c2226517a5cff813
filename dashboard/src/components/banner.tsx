import type { ReactNode } from 'react';

import { Icon } from './icon.tsx';
import { Glyph } from './verdict.tsx';

/** Says what is the matter in its first line; `note` below it says what follows. */
export function Banner({
  tone = 'off',
  note,
  actions,
  children,
}: {
  readonly tone?: 'allow' | 'deny' | 'warn' | 'off';
  readonly note?: ReactNode;
  readonly actions?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <div className={tone === 'off' ? 'banner' : `banner ${tone}`} role={tone === 'deny' ? 'alert' : 'status'}>
      {tone === 'off' ? <Icon name="info" /> : <Glyph tone={tone} />}
      <div>
        {children}
        {note === undefined ? null : (
          <>
            <br />
            <span>{note}</span>
          </>
        )}
      </div>
      {actions === undefined ? null : <div className="actions">{actions}</div>}
    </div>
  );
}
