import { listOf, string } from '../../../lib/cel/types.ts';
import { CelMap } from '../../../lib/cel/values.ts';
import type { Action } from './action.ts';
import { headerLines, readHeaders } from './header-texts.ts';
import { readUrlChange } from './url-change.ts';

const mostHeaders = 10;

/** Sends visitors to another URL, if the URL of the request is another than that. */
export const redirect: Action = {
  type: 'redirect',
  phases: ['on_http_request'],
  guards: false,
  result: { name: 'redirect', fields: { matches: listOf(string), url: string } },
  build(config) {
    const change = readUrlChange(config, false);
    const status = config.integer('status_code', 300, 399) ?? 302;
    const headers = readHeaders(config, 'headers', mostHeaders, new Set(['location'])) ?? [];
    return {
      // One that replaces nothing goes on.
      ends: false,
      run(visit) {
        const found = change.run(visit);
        if (found === undefined) return undefined;
        const { url, matches } = found;
        visit.setResult('redirect', () => CelMap.of({ matches, url }));
        const lines = ['location', url, ...headerLines(headers, visit)];
        return { kind: 'answer', answer: { status, headers: lines, body: '' }, isChanged: true };
      },
    };
  },
};
