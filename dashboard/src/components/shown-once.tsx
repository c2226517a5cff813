import { useState } from 'react';
import type { ReactNode } from 'react';

import { Button } from './button.tsx';
import { Secret } from './copy.tsx';
import { Dialog } from './dialog.tsx';
import { Check } from './field.tsx';

/** The only place that ever shows a token. It stays open until somebody says that it is stored. */
export function ShownOnce({
  token,
  title = 'Copy the token now. It is shown this once.',
  isUsed = false,
  ifLost,
  onClose,
  before,
  children,
}: {
  readonly token: string;
  readonly title?: string;
  /** Whoever it is for has it already. */
  readonly isUsed?: boolean;
  /** Says what to do when it is lost. */
  readonly ifLost: string;
  readonly onClose: () => void;
  /** Stands above the token, which is not the main thing then. */
  readonly before?: ReactNode;
  readonly children?: ReactNode;
}) {
  const [isStored, setStored] = useState(false);
  return (
    <Dialog
      title={title}
      canClose={false}
      onClose={onClose}
      footer={
        <>
          <span className="grow">
            <Check isOn={isStored} onChange={setStored}>
              I have stored the token
            </Check>
          </span>
          <Button disabled={!isStored && !isUsed} onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      {before}
      <p className="soft">Gatehouse keeps only a hash of the token. {ifLost}</p>
      <Secret text={token} what="token" isMain={before === undefined} />
      {children}
    </Dialog>
  );
}
