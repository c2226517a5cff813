import { useState } from 'react';
import type { ReactNode } from 'react';

import { Button } from './button.tsx';
import { Secret } from './copy.tsx';
import { Dialog } from './dialog.tsx';
import { Check } from './field.tsx';

/** The only place that ever shows a token. It stays open until somebody says that it is stored. */
export function ShownOnce({
  token,
  ifLost,
  onClose,
  children,
}: {
  readonly token: string;
  /** What to do when it is lost. */
  readonly ifLost: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const [isStored, setStored] = useState(false);
  return (
    <Dialog
      title="Copy the token now. It is shown this once."
      canClose={false}
      onClose={onClose}
      footer={
        <>
          <span className="grow">
            <Check isOn={isStored} onChange={setStored}>
              I have stored the token
            </Check>
          </span>
          <Button disabled={!isStored} onClick={onClose}>
            Done
          </Button>
        </>
      }
    >
      <p className="soft">Gatehouse keeps only a hash of it. {ifLost}</p>
      <Secret text={token} what="token" isMain />
      {children}
    </Dialog>
  );
}
