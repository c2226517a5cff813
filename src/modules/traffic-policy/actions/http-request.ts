import { tooManyRequests } from '../../../errors/shared.ts';
import { UserError } from '../../../errors/user-error.ts';
import { EvaluationFault } from '../../../lib/cel/run.ts';
import type { Run } from '../../../lib/cel/run.ts';
import { bool, int, listOf, mapOf, objectOf, string } from '../../../lib/cel/types.ts';
import { CelMap } from '../../../lib/cel/values.ts';
import { isInternalName } from '../../../lib/endpoint-url.ts';
import { mostOwnRequests } from '../../step.ts';
import type { OwnRequest, RequestAnswer } from '../../step.ts';
import type { ConfigReader } from '../document/config-reader.ts';
import type { Template } from '../document/template.ts';
import { invalidUrl, invalidValue } from '../errors.ts';
import type { PolicyVisit } from '../run/policy-visit.ts';
import { headerMap, headersType } from '../variables/header-values.ts';
import type { Variables } from '../variables/variable.ts';
import type { Action } from './action.ts';
import { fillUrl, isAskable, longestUrl, notPossible, urlFault, writtenHost } from './asked-url.ts';
import { errorField, errorValue } from './failure-result.ts';
import { headerLines, readHeaders } from './header-texts.ts';
import type { HeaderTemplates } from './header-texts.ts';

const methods = ['GET', 'PUT', 'POST', 'PATCH', 'DELETE', 'OPTIONS'] as const;
const mostHeaders = 10;
const mostParameters = 32;
const longestKey = 128;
const longestParameter = 8192;
const longestAnswer = 262_144;
const longestBody = 262_144;
const mostRetries = 3;
/** Headers that say how a message is framed, or where it comes from. */
const ownHeaders: ReadonlySet<string> = new Set(['expect', 'host', 'content-length', 'x-forwarded-for']);

const requestType = objectOf('request', {
  method: string,
  url: string,
  header: mapOf(string, listOf(string)),
  body: string,
});
const responseType = objectOf('response', { status_code: int, header: headersType, body: string, time_ms: int });
const attemptType = objectOf('attempt', {
  response_header: headersType,
  response_status_code: int,
  response_time_ms: int,
});
const lastType = objectOf('last_attempt', { req: requestType, res: responseType, error: errorField });

/** The last attempt, as it comes to `retry_condition`. */
interface Attempts {
  count: number;
  last: CelMap | undefined;
}
const attemptsKey = {};
const attemptsOf = (visit: PolicyVisit): Attempts => visit.keep(attemptsKey, () => ({ count: 0, last: undefined }));

/** Names that a condition for another attempt has beside those of the phase. */
const ofAttempts: Variables = {
  attempts: { type: int, isSure: true, get: (visit) => BigInt(attemptsOf(visit).count) },
  last_attempt: { type: lastType, get: (visit) => attemptsOf(visit).last },
};

interface Parameter {
  readonly key: string;
  readonly value: Template;
}

interface Templates {
  readonly url: Template;
  readonly method: OwnRequest['method'];
  readonly parameters: readonly Parameter[];
  readonly headers: HeaderTemplates;
  readonly body: Template | undefined;
  readonly timeoutMs: number;
}

interface Progress {
  isDone: boolean;
  /** Set where it halts the policy. */
  fault?: EvaluationFault;
}

/** Asks an internal endpoint of the account, or a server that the operator has named, for expressions behind it. */
export const httpRequest: Action = {
  type: 'http-request',
  phases: ['on_http_request', 'on_http_response'],
  guards: false,
  result: {
    name: 'http_request',
    fields: { error: errorField, attempts: listOf(attemptType), req: requestType, res: responseType },
  },
  build(config) {
    const templates = readTemplates(config);
    const retry = config.expressionWith('retry_condition', ofAttempts, bool);
    const halts = config.oneOf('on_error', ['halt', 'continue']) === 'halt';
    const key = {};
    return {
      ends: false,
      run(visit) {
        const progress = visit.keep<Progress>(key, () => ({ isDone: false }));
        if (progress.fault !== undefined) throw progress.fault;
        if (progress.isDone) return undefined;
        const end = (fault: UserError | undefined): void => {
          progress.isDone = true;
          if (fault !== undefined && halts) progress.fault = new EvaluationFault(fault.message);
        };
        const request = isTooMany(visit)
          ? new UserError(tooManyRequests, { limit: mostOwnRequests })
          : possibleRequest(templates, visit);
        if (request instanceof UserError) {
          visit.setResult('http_request', () => CelMap.of({ error: errorValue(request), attempts: [] }));
          end(request);
          if (progress.fault !== undefined) throw progress.fault;
          return undefined;
        }
        const start = async (): Promise<undefined> => {
          end(await ask(visit, request, retry, templates.timeoutMs));
          return undefined;
        };
        return { kind: 'wait', start, isBounded: true };
      },
      facts: { reads: [] },
    };
  },
};

function readTemplates(config: ConfigReader): Templates {
  const url = config.required('url', config.template('url'));
  noteServer(config, writtenHost(url));
  if ((config.integer('max_redirects', 0, 10) ?? 0) > 0)
    throw config.fault(invalidValue, 'max_redirects', 'redirects are not followed; leave it out, and read the answer');
  const parameters = (config.objects('query_params', mostParameters) ?? []).map((each): Parameter => {
    const name = each.required('key', each.text('key'));
    if (name.length > longestKey) throw each.fault(invalidValue, 'key', `it may have ${longestKey} characters`);
    const value = each.required('value', each.template('value'));
    each.finish();
    return { key: name, value };
  });
  return {
    url,
    method: config.oneOf('method', methods) ?? 'GET',
    parameters,
    headers: readHeaders(config, 'headers', mostHeaders, ownHeaders) ?? [],
    body: config.template('body'),
    timeoutMs: config.duration('timeout', 1000, 30_000) ?? 3000,
  };
}

function noteServer(config: ConfigReader, text: string | undefined): void {
  if (text === undefined) return;
  const reason = urlFault(text);
  if (reason !== undefined) throw config.fault(invalidUrl, 'url', reason);
  const url = new URL(text);
  if (!isInternalName(url.hostname)) config.context.reads.servers.push({ path: config.at('url'), url });
}

const madeKey = {};

/** Counts the actions of a visit that ask, of which each waits once. */
function isTooMany(visit: PolicyVisit): boolean {
  return ++visit.keep(madeKey, () => ({ count: 0 })).count > mostOwnRequests;
}

/** The request, or why it cannot be made of the values that the visit has. */
function possibleRequest(templates: Templates, visit: PolicyVisit): OwnRequest | UserError {
  try {
    return requestOf(templates, visit);
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
}

function requestOf(
  { url: address, method, parameters, headers, body, timeoutMs }: Templates,
  visit: PolicyVisit,
): OwnRequest {
  const text = fillUrl(address, visit);
  const fault = urlFault(text);
  if (fault !== undefined) throw notPossible(`its URL cannot be asked: ${fault}`);
  const url = new URL(text);
  if (!isAskable(url))
    throw new EvaluationFault(
      'it asks a server that the operator has not named',
      `${url.host} is not in GATEHOUSE_POLICY_REQUEST_HOSTS`,
    );
  url.hash = '';
  for (const { key, value } of parameters) {
    const filled = value.text(visit);
    if (filled.length > longestParameter) throw notPossible(`the parameter ${key} is too long`);
    url.searchParams.append(key, filled);
  }
  const bytes = Buffer.from(body?.text(visit) ?? '', 'utf8');
  if (url.href.length > longestUrl || bytes.length > longestBody) throw notPossible('it is too long');
  return {
    method,
    url,
    headers: headerLines(headers, visit, notPossible),
    body: bytes,
    timeoutMs,
    maxBytes: longestAnswer,
  };
}

/** Asks until the condition for another attempt is false. Returns the error where there is no answer. */
async function ask(
  visit: PolicyVisit,
  request: OwnRequest,
  retry: Run<PolicyVisit> | undefined,
  timeoutMs: number,
): Promise<UserError | undefined> {
  const startedMs = performance.now();
  const state = attemptsOf(visit);
  Object.assign(state, { count: 0, last: undefined });
  const attempts: CelMap[] = [];
  for (;;) {
    const begunMs = performance.now();
    const outcome = await askOnce(visit, { ...request, timeoutMs: Math.max(1, timeoutMs - (begunMs - startedMs)) });
    const tookMs = performance.now() - begunMs;
    const told = toldOf(request, outcome, tookMs);
    state.count += 1;
    state.last = CelMap.of(told);
    if (!(outcome instanceof UserError)) attempts.push(attemptOf(outcome, tookMs));
    visit.setResult('http_request', () => CelMap.of({ ...told, attempts }));
    const isLate = performance.now() - startedMs >= timeoutMs;
    if (retry === undefined || state.count > mostRetries || isLate || !wantsMore(retry, visit))
      return outcome instanceof UserError ? outcome : undefined;
  }
}

function wantsMore(retry: Run<PolicyVisit>, visit: PolicyVisit): boolean {
  try {
    return retry(visit.frame) === true;
  } catch (error) {
    if (error instanceof EvaluationFault) return false;
    throw error;
  }
}

async function askOnce(visit: PolicyVisit, request: OwnRequest): Promise<RequestAnswer | UserError> {
  try {
    return await visit.request.services.requests.send(visit.request, request);
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
}

function toldOf(
  { method, url, headers, body }: OwnRequest,
  outcome: RequestAnswer | UserError,
  tookMs: number,
): Readonly<Record<string, CelMap>> {
  const req = CelMap.of({ method, url: url.href, header: headerMap(headers), body: body.toString('utf8') });
  if (outcome instanceof UserError) return { req, error: errorValue(outcome) };
  const { status, headers: answered, body: text } = outcome;
  const res = CelMap.of({
    status_code: BigInt(status),
    header: headerMap(answered),
    body: text.toString('utf8'),
    time_ms: BigInt(Math.round(tookMs)),
  });
  return { req, res };
}

function attemptOf({ status, headers }: RequestAnswer, tookMs: number): CelMap {
  return CelMap.of({
    response_header: headerMap(headers),
    response_status_code: BigInt(status),
    response_time_ms: BigInt(Math.round(tookMs)),
  });
}
