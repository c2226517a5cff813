import { Fragment, useState } from 'react';

import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { Check } from '../components/field.tsx';
import { areKeysOn, setKeysOn } from './keyboard.ts';
import { pages } from './pages.ts';

const keys: readonly (readonly [keys: readonly string[], act: string])[] = [
  [['/'], 'Search or jump: paste an id, an address or a CIDR'],
  [['?'], 'This list'],
  [['j', 'k'], 'Next and previous row'],
  [['↵'], 'Open the row'],
  [['Esc'], 'Close what is open'],
  [['x'], 'Select the row'],
  [['c'], 'Create'],
  [['e'], 'Edit'],
  [['f'], 'Filter'],
  [['y'], 'Copy the id'],
  [['Ctrl', '↵'], 'Save a form'],
  [['g', 'g'], 'First rule of an IP policy'],
  [['G'], 'Last rule of an IP policy'],
  [[':'], 'Rule of an IP policy by its row'],
  [['Space'], 'Pause live traffic'],
];

export function KeysHelp({ onClose }: { readonly onClose: () => void }) {
  const [isOn, setOn] = useState(areKeysOn);
  return (
    <Dialog
      title="Keys"
      onClose={onClose}
      footer={
        <Button onClick={onClose} startsFocused>
          Close
        </Button>
      }
    >
      <dl className="keys-help">
        {keys.map(([names, act]) => (
          <Fragment key={act}>
            <dt>
              {names.map((name) => (
                <kbd key={name}>{name}</kbd>
              ))}
            </dt>
            <dd>{act}</dd>
          </Fragment>
        ))}
        {pages
          .filter(({ shortcut }) => shortcut !== undefined)
          .map(({ path, title, shortcut }) => (
            <Fragment key={path}>
              <dt>
                <kbd>g</kbd>
                <kbd>{shortcut}</kbd>
              </dt>
              <dd>{title}</dd>
            </Fragment>
          ))}
      </dl>
      <Check
        isOn={isOn}
        onChange={(next) => {
          setKeysOn(next);
          setOn(next);
        }}
      >
        Single keys work while nobody types
      </Check>
    </Dialog>
  );
}
