import { useEffect, useRef } from 'react';
import { useLocation } from 'wouter';

import { copyText } from '../components/copy.tsx';
import { toast } from '../components/toast.tsx';
import { rowsInWindow, scrollToRow } from '../components/windowed-table.tsx';
import { pages } from './pages.ts';

const storageKey = 'gatehouse.keys';
const sequenceMs = 1200;

export function areKeysOn(): boolean {
  return localStorage.getItem(storageKey) !== 'off';
}

export function setKeysOn(isOn: boolean): void {
  if (isOn) localStorage.removeItem(storageKey);
  else localStorage.setItem(storageKey, 'off');
}

/** Single keys, while nobody types and no dialog is open. Controls name theirs in `aria-keyshortcuts`. */
export function useKeyboard({
  onSearch,
  onHelp,
  onRow,
}: {
  readonly onSearch: () => void;
  readonly onHelp: () => void;
  /** Asks for the row of a long list. */
  readonly onRow: () => void;
}): void {
  const [, navigate] = useLocation();
  const goPressedAt = useRef(-Infinity);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (isTyping(event.target) || document.querySelector('dialog[open]') !== null || !areKeysOn()) return;
      const { key } = event;
      // Space presses the button that has the focus.
      if (key === ' ' && isControl(event.target)) return;
      if (performance.now() - goPressedAt.current < sequenceMs) {
        goPressedAt.current = -Infinity;
        const page = pages.find(({ shortcut }) => shortcut === key);
        if (page !== undefined) navigate(`/${page.path}`);
        else if (key === 'g') scrollToRow(1);
        return;
      }
      const act = actOf(key, {
        '/': onSearch,
        '?': onHelp,
        ':': onRow,
        g: () => {
          goPressedAt.current = performance.now();
        },
      });
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  });
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('input, textarea, select, [contenteditable]') !== null;
}

function isControl(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('button, a, summary, [role="button"]') !== null;
}

type OfShell = Readonly<Record<'/' | '?' | ':' | 'g', () => void>>;

function actOf(key: string, ofShell: OfShell): (() => void) | undefined {
  if (key === '/' || key === '?' || key === 'g') return ofShell[key];
  if (key === ':') return rowsInWindow() === 0 ? undefined : ofShell[key];
  if (key === 'G') return () => scrollToRow(rowsInWindow());
  if (key === 'x') return selectInFocus();
  if (key === 'j' || key === 'ArrowDown') return moveInList(1);
  if (key === 'k' || key === 'ArrowUp') return moveInList(-1);
  if (key === 'y') return copyIdInFocus();
  if (!/^[a-z ]$/i.test(key)) return undefined;
  const name = key === ' ' ? 'Space' : key;
  const control = document.querySelector<HTMLElement>(`main [aria-keyshortcuts="${name}"]`);
  if (control === null) return undefined;
  return () => (control instanceof HTMLInputElement ? control.focus() : control.click());
}

/** Moves the focus between the links of rows; the arrow keys scroll where no row has it. */
function moveInList(step: 1 | -1): (() => void) | undefined {
  const links = [...document.querySelectorAll<HTMLElement>('main [data-row-link]')];
  const now = links.findIndex((link) => link === document.activeElement);
  const next = links[now === -1 ? 0 : Math.min(Math.max(now + step, 0), links.length - 1)];
  return next === undefined ? undefined : () => next.focus();
}

/** A row is selected by a click with Ctrl. */
function selectInFocus(): (() => void) | undefined {
  const row = document.activeElement?.closest('main tr[aria-selected]');
  if (row === null || row === undefined) return undefined;
  return () => row.dispatchEvent(new MouseEvent('click', { bubbles: true, ctrlKey: true }));
}

function copyIdInFocus(): (() => void) | undefined {
  const row = document.activeElement?.closest('tr');
  const holder =
    row?.querySelector<HTMLElement>('[data-copy-id]') ??
    document.querySelector<HTMLElement>('main .facts [data-copy-id]');
  const id = holder?.dataset['copyId'];
  return id === undefined ? undefined : () => void copyText(id).then(() => toast(`Copied ${id}`));
}
