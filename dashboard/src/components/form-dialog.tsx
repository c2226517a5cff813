import { useId } from 'react';
import type { ReactNode } from 'react';

import type { CallError } from '../api/client.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Form } from './form.tsx';
import { Problem } from './problem.tsx';

/** A dialog that is one form: its fields, what went wrong besides them, and the act. */
export function FormDialog({
  title,
  act,
  missing,
  isPending,
  error,
  onSubmit,
  onClose,
  large = false,
  children,
}: {
  readonly title: string;
  /** Words of the button: "Create edge". */
  readonly act: string;
  /** What has to be given before it can be pressed. */
  readonly missing?: string | undefined;
  readonly isPending: boolean;
  /** Left out where the error stands beside its field. */
  readonly error: CallError | undefined;
  readonly onSubmit: () => void;
  readonly onClose: () => void;
  readonly large?: boolean;
  readonly children: ReactNode;
}) {
  const id = useId();
  return (
    <Dialog
      title={title}
      onClose={onClose}
      large={large}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
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
        {children}
        <Problem error={error} />
      </Form>
    </Dialog>
  );
}
