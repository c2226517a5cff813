import type { ReactNode } from 'react';

/** A form that Enter and Ctrl/Cmd Enter send. Nothing of it ever reaches the URL. */
export function Form({
  label,
  onSubmit,
  id,
  children,
}: {
  readonly label: string;
  readonly onSubmit: () => void;
  /** Named by a button outside of the form, such as in the foot of a dialog. */
  readonly id?: string;
  readonly children: ReactNode;
}) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- ctrl Enter is for whatever has the focus inside
    <form
      id={id}
      className="form"
      aria-label={label}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
      onKeyDown={(event) => {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
          event.preventDefault();
          onSubmit();
        }
      }}
    >
      {children}
    </form>
  );
}
