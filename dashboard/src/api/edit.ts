import { useCallback, useState } from 'react';

import { ApiError } from '../../../client/src/index.ts';
import type { Reply } from '../../../client/src/index.ts';
import { asCallError, errorNumbers } from './client.ts';
import type { CallError } from './client.ts';
import { fieldOfError } from './field-errors.ts';
import { refreshAll } from './queries.ts';

export interface SaveOptions {
  readonly ifMatch?: string;
  readonly allowLockout?: boolean;
}

export interface Edit<Document, Values> {
  readonly values: Values;
  readonly set: <Name extends keyof Values>(name: Name, value: Values[Name]) => void;
  /** Several fields at once. */
  readonly setAll: (part: Partial<Values>) => void;
  readonly isChanged: boolean;
  readonly isPending: boolean;
  readonly error: CallError | undefined;
  /** The field that the error is about, if one is. */
  readonly fieldOfError: keyof Values | undefined;
  /** Words of the server about a field. */
  readonly errorAt: (name: keyof Values) => string | undefined;
  /** Somebody else was faster: what was seen here, and what is there now. */
  readonly stale: { readonly seen: Document; readonly current: Document } | undefined;
  /** Returns whether it was saved. */
  readonly save: (options?: { allowLockout?: boolean }) => Promise<boolean>;
  /** Saves the fields that were changed here over what is there now. */
  readonly putMineOnTop: () => Promise<boolean>;
}

/**
 * An edit of one document. Only fields that differ from what was seen are sent, with the ETag of that state, so that two
 * people can change different fields, and a change of the same one is shown before it is overwritten.
 */
export function useEdit<Document, Values extends object>({
  seen: firstSeen,
  toValues,
  send,
  reread,
  fieldsByError = {},
  start = {},
  onSaved,
}: {
  /** The state that the person saw when the edit began. Later ones are not taken over. */
  readonly seen: Reply<Document>;
  readonly toValues: (document: Document) => Values;
  /** `base` is the state that the change goes on top of, for calls that replace more than the changed fields. */
  readonly send: (changed: Partial<Values>, options: SaveOptions, base: Document) => Promise<unknown>;
  readonly reread: () => Promise<Reply<Document>>;
  /** Number of an error to the field that it is about, where its message does not name one. */
  readonly fieldsByError?: Readonly<Record<number, string>>;
  /** Values that the edit begins with in place of those that were seen: what a dialog is about to do. */
  readonly start?: Partial<Values>;
  readonly onSaved?: () => void;
}): Edit<Document, Values> {
  const [seen] = useState(firstSeen);
  /** The state that the next attempt demands: what was seen, until somebody says that theirs goes on top. */
  const [demanded, setDemanded] = useState(firstSeen);
  const [values, setValues] = useState(() => ({ ...toValues(firstSeen.document), ...start }));
  const [isPending, setPending] = useState(false);
  const [error, setError] = useState<CallError>();
  const [current, setCurrent] = useState<Reply<Document>>();

  /** True if the server spoke of what stood there before. */
  const setAll = useCallback((next: (before: Values) => Values) => {
    setError(undefined);
    setValues(next);
  }, []);
  const changed = changedFields(toValues(seen.document), values);
  const attempt = useCallback(
    async (state: Reply<Document>, options: { allowLockout?: boolean } = {}): Promise<boolean> => {
      setPending(true);
      setError(undefined);
      try {
        const fields = changedFields(toValues(seen.document), values);
        const demand = state.etag === undefined ? {} : { ifMatch: state.etag };
        await send(fields, { ...options, ...demand }, state.document);
        refreshAll();
        // The next edit begins with what is there now: with the state before, it would be in the way of itself.
        await reread().catch(() => undefined);
        onSaved?.();
        return true;
      } catch (failure) {
        const callError = asCallError(failure);
        setError(callError);
        if (callError instanceof ApiError && callError.number === errorNumbers.stale) setCurrent(await reread());
        return false;
      } finally {
        setPending(false);
      }
    },
    [seen, values, send, reread, toValues, onSaved],
  );

  const field = error === undefined ? undefined : fieldOfError(error, values, fieldsByError);
  return {
    values,
    set: useCallback((name, value) => setAll((before) => ({ ...before, [name]: value })), [setAll]),
    setAll: useCallback((part) => setAll((before) => ({ ...before, ...part })), [setAll]),
    isChanged: Object.keys(changed).length > 0,
    isPending,
    error,
    fieldOfError: field,
    errorAt: (name) => (name === field ? error?.message : undefined),
    stale: current === undefined ? undefined : { seen: seen.document, current: current.document },
    save: (options) => attempt(demanded, options),
    putMineOnTop: async () => {
      if (current === undefined) return false;
      setDemanded(current);
      setCurrent(undefined);
      return attempt(current);
    },
  };
}

function changedFields<Values extends object>(before: Values, after: Values): Partial<Values> {
  const changed: Partial<Values> = {};
  // Both have the same fields.
  for (const name of Object.keys(after) as (keyof Values)[]) {
    if (JSON.stringify(before[name]) !== JSON.stringify(after[name])) changed[name] = after[name];
  }
  return changed;
}
