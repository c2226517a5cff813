import { useState } from 'react';

import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { TextField } from '../components/field.tsx';
import { Form } from '../components/form.tsx';
import { rowsInWindow, scrollToRow } from '../components/windowed-table.tsx';
import { formatNumber } from '../lib/text.ts';

/** Asks for the number of a row in a long list, and goes there. */
export function GoToRow({ onClose }: { readonly onClose: () => void }) {
  const [text, setText] = useState('');
  const [count] = useState(rowsInWindow);
  const wanted = Number(text);
  const isRow = Number.isInteger(wanted) && wanted >= 1 && wanted <= count;
  const go = (): void => {
    if (!isRow) return;
    onClose();
    scrollToRow(wanted);
  };
  return (
    <Dialog
      title="Go to a row"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form="go-to-row" missing={isRow ? undefined : 'Give a row to go on'}>
            Go there
          </Button>
        </>
      }
    >
      <Form id="go-to-row" label="Go to a row" onSubmit={go}>
        <TextField
          label="Row"
          type="number"
          startsFocused
          value={text}
          onChange={setText}
          hint={`A number from 1 to ${formatNumber(count)}.`}
        />
      </Form>
    </Dialog>
  );
}
