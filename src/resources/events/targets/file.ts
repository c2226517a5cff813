import { Type } from 'typebox';

import { text } from '../../../api/body/text-fields.ts';
import { quote, UserError } from '../../../errors/user-error.ts';
import * as errors from '../errors.ts';
import type { TargetKind } from './target-kind.ts';

const name = text(
  64,
  'Name of a file in the account\'s folder below GATEHOUSE_EVENT_FILES, on the machine of the process that sends: letters, digits, ".", "_" and "-".',
  'events.jsonl',
);

export const fileTarget: TargetKind<'file', { readonly name: string }> = {
  input: Type.Object(
    { name },
    {
      additionalProperties: false,
      description: 'A file on the machine of Gatehouse, one line of JSON for each event.',
    },
  ),
  view: Type.Object({ name }, { description: 'The file.' }),
  accept(given, _previous, { hasFolder }) {
    if (!hasFolder) throw new UserError(errors.noEventFolder);
    // Those that end in a number are files that were full.
    if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(given.name) || /\.\d+$/.test(given.name))
      throw new UserError(errors.unusableFileName, { name: quote(given.name) });
    return { kept: { name: given.name }, secret: null };
  },
  open: (kept) => ({ kind: 'file', name: kept.name }),
};
