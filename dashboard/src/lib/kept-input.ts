import { useEffect, useRef, useState } from 'react';

/** Values of a form by the names of its fields. */
type Input = Readonly<Record<string, unknown>>;

interface Kept {
  /** The page, with what is open on it. */
  readonly url: string;
  readonly forms: Readonly<Record<string, Input>>;
}

const storageKey = 'gatehouse.input';
const openForms = new Map<string, () => Input>();
let kept: Kept | undefined;

/** Called when the program starts: what an earlier one has kept is in memory from then on, and nowhere else. */
export function takeKeptInput(): void {
  const text = sessionStorage.getItem(storageKey);
  sessionStorage.removeItem(storageKey);
  // Written below, by this version or the one before it.
  if (text !== null) kept = JSON.parse(text) as Kept;
}

/** Loads the program again. Open forms have afterwards what is typed into them now. */
export function reloadWithInput(): void {
  const forms = Object.fromEntries([...openForms].map(([form, read]) => [form, read()]));
  const input: Kept = { url: urlNow(), forms };
  if (openForms.size > 0) sessionStorage.setItem(storageKey, JSON.stringify(input));
  location.reload();
}

/** Text that was typed into this form before the reload, for the first that asks. */
export function useInputBefore(form: string): Input {
  const [input] = useState(() => {
    const found = kept?.url === urlNow() ? kept.forms[form] : undefined;
    if (found !== undefined) kept = undefined;
    return found ?? {};
  });
  return input;
}

/** Keeps these values over a reload that is offered, for as long as the form is open. Nothing secret may be among them. */
export function useKeepInput(form: string, values: Input): void {
  const current = useRef(values);
  useEffect(() => {
    current.current = values;
  }, [values]);
  useEffect(() => {
    const read = (): Input => current.current;
    openForms.set(form, read);
    return () => void openForms.delete(form);
  }, [form]);
}

function urlNow(): string {
  return `${location.pathname}${location.search}`;
}
