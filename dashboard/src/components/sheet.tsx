import { useEffect, useRef } from 'react';
import type { ReactNode } from 'react';

import { Icon } from './icon.tsx';

/** A list with a row opened beside it. The list stays; Escape closes and gives the focus back. */
export function Split({
  children,
  sheet,
}: {
  readonly children: ReactNode;
  /** Undefined: nothing is open. */
  readonly sheet: ReactNode | undefined;
}) {
  return sheet === undefined ? (
    <div className="page wide">{children}</div>
  ) : (
    <div className="split">
      <div className="page wide">{children}</div>
      {sheet}
    </div>
  );
}

export function Sheet({
  title,
  onClose,
  children,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const element = useRef<HTMLElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    element.current?.querySelector<HTMLElement>('button')?.focus({ preventScroll: true });
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    };
  }, []);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- escape is for whatever has the focus inside
    <aside
      ref={element}
      aria-label={title}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onClose();
      }}
    >
      <div className="sheet-h">
        <h2 className="grow">{title}</h2>
        <button type="button" className="btn ghost sm icon-only" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      <div className="sheet-b">{children}</div>
    </aside>
  );
}
