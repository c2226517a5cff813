import type { ReactNode } from 'react';

import { Icon } from './icon.tsx';
import type { IconName } from './icon.tsx';

/** Stands in place of a page that cannot be shown: why, and what to do. */
export function CannotLoad({
  icon,
  title,
  children,
  actions,
  fine,
}: {
  readonly icon: IconName;
  readonly title: string;
  readonly children: ReactNode;
  readonly actions?: ReactNode;
  readonly fine?: ReactNode;
}) {
  return (
    <div className="cannot" role="alert">
      <Icon name={icon} />
      <h1>{title}</h1>
      <p>{children}</p>
      {actions === undefined ? null : <div className="actions">{actions}</div>}
      {fine === undefined ? null : <p className="fine muted">{fine}</p>}
    </div>
  );
}
