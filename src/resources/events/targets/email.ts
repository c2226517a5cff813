import { Type } from 'typebox';

import { text } from '../../../api/body/text-fields.ts';
import { quote, UserError } from '../../../errors/user-error.ts';
import * as errors from '../errors.ts';
import type { TargetKind } from './target-kind.ts';

const mostPeople = 5;
const to = Type.Array(text(254, 'An e-mail address.', 'ops@example.com'), {
  description: 'Who gets the messages: 1 to 5 addresses.',
  minItems: 1,
  maxItems: mostPeople,
  examples: [['ops@example.com']],
});
/** Addresses as people have them; quoted and internationalized ones are not taken. */
const form = /^[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,8}$/;

export const emailTarget: TargetKind<'email', { readonly to: readonly string[] }> = {
  input: Type.Object(
    { to },
    {
      additionalProperties: false,
      description: 'People who get e-mail: at most one message a minute, with all that happened until then.',
    },
  ),
  view: Type.Object({ to }, { description: 'People who get e-mail.' }),
  accept(given, _previous, { hasMailServer }) {
    if (!hasMailServer) throw new UserError(errors.noMailServer);
    for (const address of given.to)
      if (!form.test(address)) throw new UserError(errors.unusableAddress, { address: quote(address) });
    return { kept: { to: [...new Set(given.to)] }, secret: null };
  },
  open: (kept, _secret, { mailEveryMs: everyMs }) => ({ kind: 'email', to: kept.to, everyMs }),
};
