import { CelMap } from '../../../lib/cel/values.ts';
import { any } from '../../../lib/cel/types.ts';
import { headerChange } from '../run/changed-headers.ts';
import type { Action } from './action.ts';
import { checkHeaderName } from './header-texts.ts';

const mostHeaders = 10;
const neverRemoved: ReadonlySet<string> = new Set(['user-agent', 'host']);

/** Removes headers from the request, or from the answer, in every spelling that differs in punctuation alone. */
export const removeHeaders: Action = {
  type: 'remove-headers',
  phases: ['on_http_request', 'on_http_response'],
  guards: false,
  result: { name: 'remove_headers', fields: { headers_removed: any } },
  build(config) {
    const given = config.required('headers', config.texts('headers', mostHeaders));
    const names = given.map((name, at) => checkHeaderName(config, `headers[${at}]`, name, neverRemoved));
    const change = headerChange(names, []);
    return {
      ends: false,
      run(visit) {
        visit.changeHeaders(change);
        visit.setResult('remove_headers', () => CelMap.of({ headers_removed: names }));
        return undefined;
      },
      facts: { changes: names },
    };
  },
};
