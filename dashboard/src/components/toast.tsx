import { useSyncExternalStore } from 'react';

import { Glyph } from './verdict.tsx';

interface Toast {
  readonly id: number;
  readonly text: string;
}

const shownMs = 5000;
let toasts: readonly Toast[] = [];
let nextId = 1;
const listeners = new Set<() => void>();

function setToasts(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

/** One line that says what has been done. Never for an error that needs an act. */
export function toast(text: string): void {
  const id = nextId++;
  setToasts([...toasts, { id, text }]);
  removeLater(id);
}

function removeLater(id: number): void {
  setTimeout(() => {
    // A toast stays while somebody points at it.
    if (document.querySelector(`[data-toast="${id}"]:hover`) === null)
      setToasts(toasts.filter((each) => each.id !== id));
    else removeLater(id);
  }, shownMs);
}

export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => toasts,
  );
  return (
    <div className="toasts" role="status">
      {shown.map(({ id, text }) => (
        <div key={id} className="toast" data-toast={id}>
          <Glyph tone="allow" />
          <span>{text}</span>
        </div>
      ))}
    </div>
  );
}
