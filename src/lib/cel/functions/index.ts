import type { Overload } from '../environment.ts';
import { conversions } from './conversions.ts';
import { functionTable } from './define.ts';
import { encodingFunctions } from './encodings.ts';
import { listFunctions } from './lists.ts';
import { matchingFunctions } from './matching.ts';
import { textFunctions } from './texts.ts';
import { timeFunctions } from './times.ts';

/** All functions that need nothing of a request. */
export const functions: ReadonlyMap<string, readonly Overload<unknown>[]> = functionTable([
  ...conversions,
  ...textFunctions,
  ...listFunctions,
  ...timeFunctions,
  ...encodingFunctions,
  ...matchingFunctions,
]);
