import { useState } from 'react';
import type { ReactNode } from 'react';

import { ApiError } from '../../../../client/src/index.ts';
import { errorNumbers } from '../../api/client.ts';
import type { CallError } from '../../api/client.ts';
import { useOne, useRead } from '../../api/queries.ts';
import type { Rehearsal } from './rehearsal.ts';
import { RehearsalSheet } from './rehearsal-sheet.tsx';

interface Opened {
  /** What was edited when it was opened: another edit has not been seen. */
  readonly subject: string;
  /** Tells one try from another: what is edited may have changed in between. */
  readonly at: number;
  readonly rehearse: (signal: AbortSignal) => Promise<Rehearsal>;
}

/**
 * Shows whom a change would turn before it is saved. `open` takes the place of saving; the sheet, which is drawn beside the
 * edit, has the button that saves.
 */
export function useRehearsal({
  subject,
  what,
  rehearse,
  save,
  isSaving,
  error,
  allow,
  needsVisits = false,
}: {
  /** Everything that would be saved. */
  readonly subject: string;
  readonly what: string;
  readonly rehearse: (signal: AbortSignal) => Promise<Rehearsal>;
  readonly save: (options: { allowLockout?: boolean }) => void;
  readonly isSaving: boolean;
  readonly error: CallError | undefined;
  readonly allow?: (() => void) | undefined;
  /** Nothing can be told of it but by kept visits: where there are none, it is saved at once. */
  readonly needsVisits?: boolean;
}): {
  readonly open: () => void;
  /** Whether `open` shows the sheet first. */
  readonly shows: boolean;
  readonly close: () => void;
  readonly sheet: ReactNode;
} {
  const [opened, setOpened] = useState<Opened>();
  const { isKept, reread } = useAreKept(needsVisits);
  const close = (): void => setOpened(undefined);
  const show = (): void => setOpened({ at: performance.now(), subject, rehearse });
  const showIfKept = async (): Promise<void> => {
    // The error of a question that fails stands in the sheet.
    const isNone = await reread().then(
      ({ document }) => document.not_kept !== undefined,
      () => false,
    );
    if (isNone) save({});
    else show();
  };
  return {
    open: needsVisits && isKept !== true ? () => void showIfKept() : show,
    shows: !needsVisits || isKept === true,
    close,
    sheet:
      opened?.subject !== subject || isStale(error) ? null : (
        <Opened
          key={opened.at}
          opened={opened}
          what={what}
          isSaving={isSaving}
          error={error}
          onSave={save}
          onAllow={allow}
          onClose={close}
        />
      ),
  };
}

/** Whether any gateway keeps decisions; undefined while nobody knows. */
function useAreKept(enabled: boolean) {
  const { data, reread } = useOne('DecisionsList', { query: { limit: 1 } }, { enabled });
  return { isKept: data === undefined ? undefined : data.document.not_kept === undefined, reread };
}

/** Somebody else was faster, which the edit itself shows. */
export function isStale(error: CallError | undefined): boolean {
  return error instanceof ApiError && error.number === errorNumbers.stale;
}

function Opened({
  opened: { at, rehearse },
  ...props
}: { readonly opened: Opened } & Omit<Parameters<typeof RehearsalSheet>[0], 'read'>) {
  // What is saved has been seen: it is not tried once more when all that is shown is read again.
  const read = useRead(['rehearsal', at], rehearse, { enabled: !props.isSaving });
  return <RehearsalSheet {...props} read={read} />;
}
