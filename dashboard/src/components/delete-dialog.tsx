import { useState } from 'react';
import type { ReactNode } from 'react';

import { useAction } from '../api/action.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { TextField } from './field.tsx';
import { isLockout, LockoutBanner, Problem } from './problem.tsx';
import { toast } from './toast.tsx';

/**
 * Asks before something is lost: what is lost, what uses it, whether there is a way back. `typeName` has to be typed
 * where the thing is in use.
 */
export function DeleteDialog({
  title,
  lost,
  uses,
  typeName,
  blocked,
  act: words,
  said,
  remove,
  isWaiting = false,
  onClose,
  onDone = onClose,
}: {
  /** Such as: Delete the key “CI main”? */
  readonly title: string;
  readonly lost: ReactNode;
  readonly uses?: ReactNode;
  readonly typeName?: string | undefined;
  /** Why it cannot be deleted, in words for the button. */
  readonly blocked?: string | undefined;
  /** Words of the button: "Delete key". */
  readonly act: string;
  /** Said when it is done: "Deleted the key CI main." */
  readonly said: string;
  readonly remove: (options: { allowLockout?: boolean }) => Promise<unknown>;
  /** True while something that `remove` needs has not come yet. */
  readonly isWaiting?: boolean;
  /** Called in place of `onClose` when it is done. */
  readonly onDone?: () => void;
  readonly onClose: () => void;
}) {
  const [typed, setTyped] = useState('');
  const { run, isPending, error } = useAction();
  const act = async (options: { allowLockout?: boolean }): Promise<void> => {
    if (!(await run(() => remove(options)))) return;
    toast(said);
    onDone();
  };
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
          <Button
            look="danger"
            missing={blocked}
            disabled={!isReady || isPending || isWaiting}
            onClick={() => void act({})}
          >
            {words}
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
        <LockoutBanner error={error} onOverride={() => void act({ allowLockout: true })} />
      ) : (
        <Problem error={error} />
      )}
    </Dialog>
  );
}
