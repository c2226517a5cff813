import type { Static } from 'typebox';

import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import { notAnIpPolicyId, vaultNameUnknown } from '../../errors/shared.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { isFieldValue, isToken } from '../../lib/http-syntax.ts';
import type { IpAddress } from '../../lib/ip/address.ts';
import { parseIp } from '../../lib/ip/address.ts';
import { readEndpointUrl } from '../../lib/endpoint-url.ts';
import { checkRequestPath } from '../../lib/request-path.ts';
import {
  checkTarget,
  ipPolicyIdsIn,
  preparePolicy,
  acceptPolicy,
  toBytes,
  toText,
  tryPolicy,
} from '../../modules/traffic-policy/service.ts';
import type { DescribedRequest, Policy, Trial } from '../../modules/traffic-policy/service.ts';
import * as policyErrors from '../../modules/traffic-policy/errors.ts';
import type { HeaderList } from '../../modules/step.ts';
import { notAnIpAddress } from '../ip-check/errors.ts';
import { ipPolicyRuleSearch, judge } from '../ip-policy-rules/service.ts';
import { checkSecrets } from '../named-secrets.ts';
import type { Resource, ResourceContext } from '../resource.ts';
import * as errors from './errors.ts';
import { TrafficPolicyCheckRequest, TrafficPolicyCheckVerdict } from './schema.ts';

type Described = NonNullable<Static<typeof TrafficPolicyCheckRequest>['request']>;

/** Longest body of an answer that is shown. */
const longestBody = 10_000;

function checkOperation(context: ResourceContext): Operation {
  return operation({
    rights: 'everyone',
    onlyReads: true,
    method: 'POST',
    path: '/traffic_policy_check',
    operationId: 'TrafficPolicyCheck',
    summary: 'Try a traffic policy',
    description:
      'Checks the text of a traffic policy, and runs it for a visit that you describe: which rules match, what each action does, and what ' +
      'becomes of the visit. IP policies and secrets that it names must exist, as when it is written. Nothing is stored, counted or asked for ' +
      'elsewhere, and no value of a secret is read.',
    tag: 'Traffic policies',
    body: TrafficPolicyCheckRequest,
    status: 200,
    response: TrafficPolicyCheckVerdict,
    mayBeLarge: true,
    errors: [
      notAnIpAddress,
      notAnIpPolicyId,
      vaultNameUnknown,
      ...Object.values(policyErrors),
      ...Object.values(errors),
    ],
    handle: async ({ body, caller: { accountId } }) => {
      await preparePolicy(body.policy);
      const policy = acceptPolicy(body.policy);
      const ids = await checkIpPolicies(context, accountId, policy);
      // Names of secrets are looked up, and no value is read.
      await checkSecrets(context.services, context.store.queries, accountId, policy.reads.secrets);
      if (body.request === undefined) return checked;
      const request = readRequest(body.request, policy);
      return present(tryPolicy(policy, request, await accessOf(context, ids, request.source)));
    },
  });
}

const checked = {
  verdict: 'valid',
  explanation: 'The policy is acceptable.',
  depends_on: [],
  rules: [],
  is_cut: false,
  upstream: null,
  answer: null,
};

/** Refuses ids that a policy could not be written with. */
async function checkIpPolicies(
  { referables, store }: ResourceContext,
  accountId: string,
  policy: Policy,
): Promise<readonly string[]> {
  const ids = ipPolicyIdsIn(policy);
  referables.check(
    'ip_policy',
    'policy',
    ids,
    (id) => new UserError(notAnIpPolicyId, { field: 'policy', id: quote(id) }),
  );
  for (const id of ids) {
    if (!(await referables.exists(store.queries, 'ip_policy', accountId, id)))
      throw new UserError(policyErrors.ipPolicyUnknown, { id: quote(id) });
  }
  return ids;
}

/** The rules of IP policies for the one address that is described. */
async function accessOf({ services, store }: ResourceContext, ids: readonly string[], source: IpAddress) {
  const matching = ids.length === 0 ? [] : await services.get(ipPolicyRuleSearch).matching(store.queries, ids, source);
  return {
    allows: (policyIds: readonly string[]) => judge(policyIds, matching).allowed,
    denies: (policyIds: readonly string[]) => judge(policyIds, matching).rule?.action === 'deny',
  };
}

const urlPattern = /^([^/?#]*:\/\/[^/?#]*)([^]*)$/;

function readRequest(described: Described, policy: Policy): DescribedRequest {
  const { url, method = 'GET', ip, region, headers = {}, vars = {}, response } = described;
  const source = parseIp(ip);
  if (source === undefined) throw new UserError(notAnIpAddress, { ip: quote(ip) });
  const [, origin = '', rest = ''] = urlPattern.exec(url) ?? [];
  const read = readEndpointUrl(origin);
  if (!read.ok) throw refusedUrl(url, 'it has no scheme, host and port that an endpoint could have');
  const { scheme: protocol, hostname, port } = read.url;
  if (hostname.startsWith('*')) throw refusedUrl(url, 'visitors name one host, without "*"');
  if (protocol === 'tcp' || protocol === 'tls') checkTarget(policy, `${protocol}_edge`);
  const target = rest === '' || rest.startsWith('?') ? `/${rest}` : rest;
  const path = checkRequestPath(target);
  if (!path.ok) throw refusedUrl(url, `the gateway refuses it: it ${path.reason}`);
  const host = origin.slice(origin.indexOf('://') + 3).toLowerCase();
  const given = readHeaders(headers, 'request');
  const hasHost = given.some((name, at) => at % 2 === 0 && name.toLowerCase() === 'host');
  return {
    source,
    endpoint: { protocol, host: hostname, port },
    host,
    method,
    target,
    headers: hasHost ? given : ['host', host, ...given],
    region,
    vars,
    response: response && { status: response.status_code, headers: readHeaders(response.headers ?? {}, 'answer') },
  };
}

function refusedUrl(url: string, reason: string): UserError {
  return new UserError(errors.urlRefused, { url: quote(url), reason });
}

/** Headers as the gateway has them: their values are bytes. */
function readHeaders(headers: Readonly<Record<string, string>>, what: string): HeaderList {
  return Object.entries(headers).flatMap(([name, value]) => {
    const bytes = toBytes(value);
    const reason = !isToken(name)
      ? 'its name has a character that no name has'
      : !isFieldValue(bytes)
        ? 'its value has a line break or another control character, or a space at its ends'
        : undefined;
    if (reason !== undefined) throw new UserError(errors.headerRefused, { name: quote(name), what, reason });
    return [name, bytes];
  });
}

function present({ rules, isCut, verdict, explanation, dependsOn, upstream, answer }: Trial) {
  return {
    verdict,
    explanation,
    depends_on: dependsOn,
    rules: rules.map(({ name = null, expressions, ...rule }) => ({
      ...rule,
      name,
      expressions: expressions.map(({ reason = null, ...each }) => ({ ...each, reason })),
    })),
    is_cut: isCut,
    upstream: upstream === undefined ? null : { url: upstream.url, headers: presentHeaders(upstream.headers) },
    answer:
      answer === undefined
        ? null
        : {
            status_code: answer.status,
            headers: presentHeaders(answer.headers),
            body: answer.body === undefined ? null : answer.body.slice(0, longestBody),
          },
  };
}

function presentHeaders(headers: HeaderList): readonly { readonly name: string; readonly value: string }[] {
  return Array.from({ length: headers.length / 2 }, (_, at) => ({
    name: headers[at * 2] ?? '',
    value: toText(headers[at * 2 + 1] ?? ''),
  }));
}

/** Has no table of its own: it reads IP policies through their services, and stores nothing. */
export const trafficPolicyCheckResource: Resource = {
  errors: Object.values(errors),
  migrations: [],
  schemas: [TrafficPolicyCheckRequest, TrafficPolicyCheckVerdict],
  operations: (context) => [checkOperation(context)],
};
