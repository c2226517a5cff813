import { useEffect, useId, useRef } from 'react';
import type { ReactNode } from 'react';

import { Icon } from './icon.tsx';

/** A modal dialog: the rest of the page is inert, Escape closes, the focus returns to where it was. */
export function Dialog({
  title,
  onClose,
  children,
  footer,
  beside,
  large = false,
  canClose = true,
}: {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
  readonly footer?: ReactNode;
  /** A sheet that lies beside it. */
  readonly beside?: ReactNode;
  readonly large?: boolean | undefined;
  /** false: there is no way out but the buttons of the foot. */
  readonly canClose?: boolean;
}) {
  const titleId = useId();
  return (
    <Modal labelledBy={titleId} onClose={onClose} canClose={canClose}>
      <div className={large ? 'dialog lg' : 'dialog'}>
        <header>
          <h2 id={titleId}>{title}</h2>
          {canClose ? (
            <button type="button" className="btn ghost sm icon-only" aria-label="Close" onClick={onClose}>
              <Icon name="close" />
            </button>
          ) : null}
        </header>
        <div className="body">{children}</div>
        {footer === undefined ? null : <footer>{footer}</footer>}
      </div>
      {beside}
    </Modal>
  );
}

/** The ground of everything that lies over the page. */
export function Modal({
  label,
  labelledBy,
  onClose,
  canClose = true,
  className = 'modal',
  children,
}: {
  readonly label?: string;
  readonly labelledBy?: string;
  readonly onClose: () => void;
  readonly canClose?: boolean;
  readonly className?: string;
  readonly children: ReactNode;
}) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current;
    const before = document.activeElement;
    dialog?.showModal();
    dialog?.querySelector<HTMLElement>('[data-autofocus]')?.focus();
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      className={className}
      aria-label={label}
      aria-labelledby={labelledBy}
      onCancel={(event) => {
        event.preventDefault();
        if (canClose) onClose();
      }}
      onKeyDown={(event) => {
        // The browser closes a dialog that refuses twice.
        if (event.key === 'Escape' && !canClose) event.preventDefault();
      }}
    >
      {children}
    </dialog>
  );
}
