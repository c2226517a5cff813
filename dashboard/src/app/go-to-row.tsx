import { useState } from 'react';

import { FormDialog } from '../components/form-dialog.tsx';
import { TextField } from '../components/field.tsx';
import { rowsInWindow, scrollToRow } from '../components/windowed-table.tsx';
import { formatNumber } from '../lib/text.ts';

/** Asks for the number of a row in a long list, and goes there. */
export function GoToRow({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState('');
  const [count] = useState(rowsInWindow);
  const wanted = Number(text);
  const isRow = Number.isInteger(wanted) && wanted >= 1 && wanted <= count;
  const go = (): void => {
    onClose();
    scrollToRow(wanted);
  };
  return (
    <FormDialog
      title="Go to a row"
      act="Go there"
      missing={isRow ? undefined : 'Give a row to go on'}
      isPending={false}
      error={undefined}
      onSubmit={go}
      onClose={onClose}
    >
      <TextField
        label="Row"
        type="number"
        startsFocused
        value={text}
        onChange={setText}
        hint={`A number from 1 to ${formatNumber(count)}.`}
      />
    </FormDialog>
  );
}
