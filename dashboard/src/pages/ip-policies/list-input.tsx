import { useEffect, useMemo, useRef } from 'react';

import { Button } from '../../components/button.tsx';
import { DropArea } from '../../components/drop-area.tsx';
import type { InvalidLine } from './rule-list.ts';
import { LineView } from './line-view.tsx';

/** A field with more lines than this would be slow to type in: the list is shown, and changed line by line. */
const mostEditableLines = 3000;

/** A field for the list; takes what is typed, pasted or dropped. */
export function ListInput({
  text,
  onChange,
  invalid,
  goTo,
}: {
  readonly text: string;
  readonly onChange: (text: string) => void;
  readonly invalid: readonly InvalidLine[];
  /** The line that is to be seen; a new object each time that somebody asks. */
  readonly goTo: { readonly line: number } | undefined;
}) {
  const field = useRef<HTMLTextAreaElement>(null);
  const picker = useRef<HTMLInputElement>(null);
  const lines = useMemo(() => text.split('\n'), [text]);
  const badLines = useMemo(() => new Set(invalid.map(({ line }) => line)), [invalid]);
  const isLong = lines.length > mostEditableLines;

  useEffect(() => {
    if (goTo === undefined || field.current === null) return;
    const from = lines.slice(0, goTo.line - 1).reduce((length, line) => length + line.length + 1, 0);
    field.current.focus();
    field.current.setSelectionRange(from, from + (lines[goTo.line - 1]?.length ?? 0));
    field.current.scrollTop = Math.max(0, (goTo.line - 4) * 20);
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- only a new wish moves the text
  }, [goTo]);

  return (
    <DropArea label="Your list" onText={(dropped) => onChange(dropped.replaceAll('\r\n', '\n'))}>
      {(take) => (
        <>
          {isLong ? (
            <LineView lines={lines} badLines={badLines} goTo={goTo} />
          ) : (
            <textarea
              ref={field}
              className="input mono list-input"
              aria-label="List of CIDRs, one a line"
              data-autofocus
              spellCheck={false}
              autoComplete="off"
              placeholder={'203.0.113.0/24\n!198.51.100.7/32\n# offices'}
              value={text}
              onChange={(event) => onChange(event.target.value)}
              onPaste={(event) => {
                const pasted = event.clipboardData.getData('text/plain');
                if (pasted.split('\n', mostEditableLines + 1).length <= mostEditableLines) return;
                // A field is slow with so many lines; the view is not.
                event.preventDefault();
                onChange(`${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${pasted.replaceAll('\r\n', '\n')}`);
              }}
            />
          )}
          <div className="row">
            <Button small onClick={() => picker.current?.click()}>
              Choose a file
            </Button>
            {text === '' ? null : (
              <Button small look="ghost" onClick={() => onChange('')}>
                Start over
              </Button>
            )}
            <input
              ref={picker}
              type="file"
              accept=".txt,.csv,.list,text/plain"
              hidden
              aria-label="File with a list of CIDRs"
              onChange={(event) => take(event.target.files)}
            />
          </div>
        </>
      )}
    </DropArea>
  );
}
