import { useState } from 'react';
import type { ReactNode } from 'react';

import { ApiError } from '../../../../client/src/index.ts';
import { errorNumbers } from '../../api/client.ts';
import type { CallError } from '../../api/client.ts';
import { useRead } from '../../api/queries.ts';
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
}: {
  /** Everything that would be saved. */
  readonly subject: string;
  readonly what: string;
  readonly rehearse: (signal: AbortSignal) => Promise<Rehearsal>;
  readonly save: (options: { allowLockout?: boolean }) => void;
  readonly isSaving: boolean;
  readonly error: CallError | undefined;
  readonly allow?: (() => void) | undefined;
}): { readonly open: () => void; readonly close: () => void; readonly sheet: ReactNode } {
  const [opened, setOpened] = useState<Opened>();
  const close = (): void => setOpened(undefined);
  return {
    open: () => setOpened({ at: performance.now(), subject, rehearse }),
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

/** Somebody else was faster, which the edit itself shows. */
export function isStale(error: CallError | undefined): boolean {
  return error instanceof ApiError && error.number === errorNumbers.stale;
}

function Opened({
  opened: { at, rehearse },
  ...props
}: { readonly opened: Opened } & Omit<Parameters<typeof RehearsalSheet>[0], 'read'>) {
  const read = useRead(['rehearsal', at], rehearse);
  return <RehearsalSheet {...props} read={read} />;
}
