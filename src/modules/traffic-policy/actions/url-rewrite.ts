import { EvaluationFault } from '../../../lib/cel/run.ts';
import { listOf, string } from '../../../lib/cel/types.ts';
import { CelMap } from '../../../lib/cel/values.ts';
import { parseHostPort } from '../../../lib/host-port.ts';
import { checkRequestPath } from '../../../lib/request-path.ts';
import { headerChange } from '../run/changed-headers.ts';
import { requestUrl } from '../variables/request-url.ts';
import type { Action } from './action.ts';
import { readUrlChange } from './url-change.ts';

/** Changes the URL that the upstream gets: path and query, and with the host the header Host. */
export const urlRewrite: Action = {
  type: 'url-rewrite',
  phases: ['on_http_request'],
  guards: false,
  result: { name: 'url_rewrite', fields: { matches: listOf(string), url: string } },
  build(config) {
    const change = readUrlChange(config, true);
    return {
      ends: false,
      run(visit) {
        const found = change.run(visit);
        if (found === undefined) return undefined;
        const { url, matches } = found;
        const [, authority, target = '/'] = /^https?:\/\/([^/?#]+)([^#]*)/i.exec(url) ?? [undefined, undefined, url];
        const before = requestUrl(visit).authority;
        const path = target.startsWith('/') ? target : `/${target}`;
        const checked = checkRequestPath(path);
        if (!checked.ok) throw new EvaluationFault(`the URL cannot be rewritten so: its path ${checked.reason}`);
        if (authority !== undefined && authority !== before) {
          if (!parseHostPort(authority).ok && !parseHostPort(`${authority}:443`).ok)
            throw new EvaluationFault('the URL cannot be rewritten so: its host is none');
          visit.authority = authority;
          visit.changeHeaders(headerChange(['host'], ['Host', authority], true));
        }
        visit.request.upstreamTarget = path;
        visit.setResult('url_rewrite', () => CelMap.of({ matches, url }));
        return undefined;
      },
      facts: { changes: ['host'] },
    };
  },
};
