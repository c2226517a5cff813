import { string, bool } from '../../../lib/cel/types.ts';
import { CelMap } from '../../../lib/cel/values.ts';
import { headerValues } from '../../../lib/header-list.ts';
import { encodeAnswer } from '../../compression/service.ts';
import type { Coding } from '../../compression/service.ts';
import { invalidValue } from '../errors.ts';
import type { Action } from './action.ts';

const known = ['gzip', 'deflate', 'br', 'compress'];
/** The others are hardly used, and no client needs them. */
const offered: readonly Coding[] = ['br', 'gzip'];

/** Compresses answers for clients that accept it, as the module `compression` does. */
export const compressResponse: Action = {
  type: 'compress-response',
  phases: ['on_http_response'],
  guards: false,
  result: { name: 'compress', fields: { already_compressed: bool, negotiated_algorithm: string } },
  build(config) {
    const named = config.texts('algorithms', known.length) ?? known;
    const strange = named.find((each) => !known.includes(each));
    if (strange !== undefined)
      throw config.fault(invalidValue, 'algorithms', `${JSON.stringify(strange)} is not one of ${known.join(', ')}`);
    if (new Set(named).size < named.length) throw config.fault(invalidValue, 'algorithms', 'one stands there twice');
    const codings = offered.filter((coding) => named.includes(coding));
    if (codings.length === 0)
      throw config.fault(invalidValue, 'algorithms', 'answers are compressed with gzip or br here; add one of them');
    return {
      ends: false,
      run(visit) {
        const { answer } = visit;
        if (answer === undefined) return undefined;
        const before = headerValues(answer.headers, 'content-encoding').length > 0;
        encodeAnswer(answer, codings);
        const [chosen = ''] = before ? [] : headerValues(answer.headers, 'content-encoding');
        visit.setResult('compress', () => CelMap.of({ already_compressed: before, negotiated_algorithm: chosen }));
        return undefined;
      },
    };
  },
};
