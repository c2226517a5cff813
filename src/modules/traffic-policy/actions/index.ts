import type { Action } from './action.ts';
import { addHeaders } from './add-headers.ts';
import { customResponse } from './custom-response.ts';
import { deny } from './deny.ts';
import { forwardInternal } from './forward-internal.ts';
import { removeHeaders } from './remove-headers.ts';
import { restrictIps } from './restrict-ips.ts';
import { setVars } from './set-vars.ts';

/** Every action. A new one is a file with an `Action`, and one line here; `action.ts` says what it has to offer. */
export const actions: readonly Action[] = [
  addHeaders,
  customResponse,
  deny,
  forwardInternal,
  removeHeaders,
  restrictIps,
  setVars,
];
