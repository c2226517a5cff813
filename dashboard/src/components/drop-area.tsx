import { useState } from 'react';
import type { ReactNode } from 'react';

/** A place where a text file can be dropped. `take` is for a button beside it, which does the same without a mouse. */
export function DropArea({
  label,
  onText,
  children,
}: {
  readonly label?: string;
  readonly onText: (text: string) => void;
  readonly children: (take: (files: FileList | null) => void) => ReactNode;
}) {
  const [isOver, setOver] = useState(false);
  const take = (files: FileList | null): void => {
    void files?.[0]?.text().then(onText);
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- a file can be dropped here; a button does the same without a mouse
    <div
      className="drop stack tight"
      data-over={isOver}
      {...(label === undefined ? {} : { role: 'group', 'aria-label': label })}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        take(event.dataTransfer.files);
      }}
    >
      {children(take)}
    </div>
  );
}
