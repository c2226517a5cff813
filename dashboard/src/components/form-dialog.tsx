import { useId } from 'react';
import type { ReactNode } from 'react';

import type { CallError } from '../api/client.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Form } from './form.tsx';
import { UpdateOffer } from './update-offer.tsx';
import { isLockout, LockoutBanner, Problem } from './problem.tsx';

/** A dialog that is one form: its fields, what went wrong besides them, and the act. */
export function FormDialog({
  title,
  act,
  large,
  missing,
  isPending,
  error,
  onSubmit,
  onClose,
  cancel = 'Cancel',
  keepsFirst = false,
  onOverride,
  beside,
  children,
}: {
  readonly title: string;
  /** Words of the button: "Create edge". */
  readonly act: string;
  readonly large?: boolean | undefined;
  /** Words for the fields that must be filled in before it can be pressed. */
  readonly missing?: string | undefined;
  readonly isPending: boolean;
  /** Left out where the error stands beside its field. */
  readonly error: CallError | undefined;
  readonly onSubmit: () => void;
  readonly onClose: () => void;
  /** Words of the button that leaves everything as it is. */
  readonly cancel?: string;
  /** The focus starts on that button. */
  readonly keepsFirst?: boolean;
  /** Does it though it locks the person out. */
  readonly onOverride?: () => void;
  /** A sheet that lies beside the dialog. */
  readonly beside?: ReactNode;
  readonly children: ReactNode;
}) {
  const id = useId();
  return (
    <Dialog
      title={title}
      large={large}
      onClose={onClose}
      beside={beside}
      footer={
        <>
          <Button onClick={onClose} startsFocused={keepsFirst}>
            {cancel}
          </Button>
          <Button look="primary" type="submit" form={id} disabled={isPending} missing={missing}>
            {act}
          </Button>
        </>
      }
    >
      <Form
        id={id}
        label={title}
        onSubmit={() => {
          if (missing === undefined && !isPending) onSubmit();
        }}
      >
        <UpdateOffer />
        {children}
        {error !== undefined && isLockout(error) && onOverride !== undefined ? (
          <LockoutBanner error={error} onOverride={onOverride} />
        ) : (
          <Problem error={error} />
        )}
      </Form>
    </Dialog>
  );
}
