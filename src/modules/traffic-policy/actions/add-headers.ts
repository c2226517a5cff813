import { CelMap } from '../../../lib/cel/values.ts';
import { any } from '../../../lib/cel/types.ts';
import { headerChange } from '../run/changed-headers.ts';
import type { Action } from './action.ts';
import { fixedLines, headerLines, readHeaders } from './header-texts.ts';

const mostHeaders = 10;
const neverAdded: ReadonlySet<string> = new Set(['user-agent', 'ngrok-skip-browser-warning']);

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
    const dropped = names.filter((name) => name === 'host');
    const isFixed = headers.every(([, { constant }]) => constant !== undefined);
    const fixed = isFixed ? headerChange(dropped, fixedLines(headers)) : undefined;
    return {
      ends: false,
      run(visit) {
        const change = fixed ?? headerChange(dropped, headerLines(headers, visit));
        visit.changeHeaders(change);
        visit.setResult('add_headers', () => CelMap.of({ headers_added: new CelMap(pairsOf(change.lines)) }));
        return undefined;
      },
      facts: { changes: names },
    };
  },
};

function pairsOf(lines: readonly string[]): readonly (readonly [name: string, value: string])[] {
  return lines.flatMap((name, at) => (at % 2 === 0 ? [[name, lines[at + 1] ?? ''] as const] : []));
}
