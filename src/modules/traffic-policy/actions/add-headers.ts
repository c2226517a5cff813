import { CelMap } from '../../../lib/cel/values.ts';
import { any } from '../../../lib/cel/types.ts';
import { headerDropper } from '../../header-changes.ts';
import type { Action } from './action.ts';
import { headerLines, readHeaders } from './header-texts.ts';

const mostHeaders = 10;
const neverAdded: ReadonlySet<string> = new Set(['user-agent', 'ngrok-skip-browser-warning']);
const dropHost = headerDropper(['host']);

/** Adds headers to the request, or to the answer. */
export const addHeaders: Action = {
  type: 'add-headers',
  phases: ['on_http_request', 'on_http_response'],
  guards: false,
  result: { name: 'add_headers', fields: { headers_added: any } },
  build(config) {
    const headers = config.required('headers', readHeaders(config, 'headers', mostHeaders, neverAdded));
    const names = headers.map(([name]) => name);
    // A message has one Host at most: adding it replaces.
    const hasHost = names.includes('host');
    return {
      ends: false,
      run(visit) {
        const lines = headerLines(headers, visit);
        visit.changeHeaders((list) => [...(hasHost ? dropHost(list) : list), ...lines]);
        const added = names.map((name, at) => [name, lines[at * 2 + 1] ?? ''] as const);
        visit.setResult('add_headers', () => CelMap.of({ headers_added: new CelMap(added) }));
        return undefined;
      },
      facts: { changes: names },
    };
  },
};
