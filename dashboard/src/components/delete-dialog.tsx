import { useState } from 'react';
import type { ReactNode } from 'react';

import type { CallError } from '../api/client.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { TextField } from './field.tsx';
import { isLockout, LockoutBanner, Problem } from './problem.tsx';

/**
 * Asks before something is lost: what is lost, what uses it, whether there is a way back. `typeName` has to be typed
 * where the thing is in use.
 */
export function DeleteDialog({
  title,
  lost,
  uses,
  typeName,
  act,
  isPending,
  error,
  onDelete,
  onClose,
}: {
  /** Such as: Delete the key “CI main”? */
  readonly title: string;
  readonly lost: ReactNode;
  readonly uses?: ReactNode;
  readonly typeName?: string | undefined;
  /** Words of the button: "Delete key". */
  readonly act: string;
  readonly isPending: boolean;
  readonly error: CallError | undefined;
  readonly onDelete: (options: { allowLockout?: boolean }) => void;
  readonly onClose: () => void;
}) {
  const [typed, setTyped] = useState('');
  const isReady = typeName === undefined || typed.trim() === typeName.trim();
  return (
    <Dialog
      title={title}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose} startsFocused>
            Keep it
          </Button>
          <Button look="danger" disabled={!isReady || isPending} onClick={() => onDelete({})}>
            {act}
          </Button>
        </>
      }
    >
      <p>{lost}</p>
      {uses}
      {typeName === undefined ? null : (
        <TextField
          label={
            <>
              Type <b>{typeName}</b> to go on
            </>
          }
          value={typed}
          onChange={setTyped}
        />
      )}
      {error !== undefined && isLockout(error) ? (
        <LockoutBanner error={error} onOverride={() => onDelete({ allowLockout: true })} />
      ) : (
        <Problem error={error} />
      )}
    </Dialog>
  );
}
