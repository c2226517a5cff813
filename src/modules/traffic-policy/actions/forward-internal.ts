import { EvaluationFault } from '../../../lib/cel/run.ts';
import { string } from '../../../lib/cel/types.ts';
import { CelMap } from '../../../lib/cel/values.ts';
import { isInternalName, readEndpointUrl } from '../../../lib/endpoint-url.ts';
import { invalidUrl } from '../errors.ts';
import type { Phase } from '../phases.ts';
import type { Action } from './action.ts';
import { errorField, errorValue } from './failure-result.ts';

interface Failure {
  at: boolean;
}

/** Sends the visit to an internal endpoint of the account. */
export const forwardInternal: Action = {
  type: 'forward-internal',
  phases: ['on_tcp_connect', 'on_http_request'],
  guards: false,
  result: { name: 'forward_internal', fields: { url: string, error: errorField } },
  build(config) {
    const { phase } = config;
    const template = config.required('url', config.template('url'));
    config.oneOf('binding', ['internal']);
    const goesOn = config.oneOf('on_error', ['halt', 'continue']) === 'continue';
    const reason = template.constant === undefined ? undefined : urlFault(template.constant, phase);
    if (reason !== undefined) throw config.fault(invalidUrl, 'url', reason);
    const key = {};
    return {
      ends: !goesOn,
      run(visit) {
        const failure = visit.keep(key, (): Failure => ({ at: false }));
        if (failure.at) return undefined;
        const url = template.text(visit);
        const fault = template.constant === undefined ? urlFault(url, phase) : undefined;
        const failed = (code: number, message: string): void => {
          failure.at = true;
          visit.setResult('forward_internal', () => CelMap.of({ url, error: errorValue({ code, message }) }));
        };
        if (fault === undefined) return { kind: 'forward', url, onError: goesOn ? failed : undefined };
        if (!goesOn) throw new EvaluationFault(`the URL leads nowhere: ${fault}`);
        failed(2226, fault);
        return undefined;
      },
    };
  },
};

/** Why a URL is none of an internal endpoint that the phase can lead to. */
function urlFault(url: string, phase: Phase): string | undefined {
  const read = readEndpointUrl(url.endsWith('/') ? url.slice(0, -1) : url);
  if (!read.ok)
    return read.fault === 'no_port'
      ? 'an endpoint of tcp needs a port'
      : 'write it as https://name.internal, with a port if it needs one, and without a path';
  const { scheme, hostname } = read.url;
  if (!isInternalName(hostname)) return 'the name of an internal endpoint ends with .internal';
  if (hostname.startsWith('*')) return 'it must name one endpoint, without "*"';
  const isHttp = scheme === 'http' || scheme === 'https';
  if (!isHttp && phase === 'on_http_request') return 'requests go to endpoints of http or https';
  if (isHttp && phase === 'on_tcp_connect')
    return 'connections go to endpoints of tcp or tls; forward requests in on_http_request';
  return undefined;
}
