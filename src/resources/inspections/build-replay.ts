import { UserError } from '../../errors/user-error.ts';
import { connectionHeaders, isFieldValue, isToken } from '../../lib/http-syntax.ts';
import type { InspectedRequest, ReplayRequest } from '../../observe/inspections.ts';
import * as errors from './errors.ts';

/** Changes that an admin makes to a request. */
export interface ReplayChanges {
  readonly method?: string | undefined;
  readonly target?: string | undefined;
  readonly headers?: readonly { readonly name: string; readonly value: string }[] | undefined;
  readonly body?: string | undefined;
}

/** Stands in place of what was masked. */
const masked = '[masked]';
/** Bytes of a body, and characters of a whole head: a question to another gateway has room for both. */
export const mostBodyBytes = 32 * 1024;
const mostHead = 12 * 1024;
/** What the gateway says itself, and what no longer fits a body that is sent as text. */
const notSent: ReadonlySet<string> = new Set([
  ...connectionHeaders,
  'content-encoding',
  'expect',
  'gatehouse-replay',
  'host',
]);

/** The request to send, and the names of what is left out of it because it was masked. Throws where it cannot be what it was. */
export function buildReplay(
  recorded: InspectedRequest,
  changes: ReplayChanges,
  source: string,
): { readonly request: ReplayRequest; readonly leftOut: readonly string[] } {
  const { accountId, entryId, host, isTls, id } = recorded;
  const { method = recorded.method, target: givenTarget, headers: givenHeaders } = changes;
  if (recorded.answer?.status === 101 || method.toUpperCase() === 'CONNECT')
    refuse('its connection went over to another protocol, such as WebSocket');
  if (!recorded.isHeadWhole && (givenTarget === undefined || givenHeaders === undefined))
    refuse('its path or a header is longer than is kept: give `target` and `headers`');
  const leftOut = new Set<string>();
  const target = givenTarget ?? withoutMasked(recorded.target, leftOut);
  const headers = headersOf(givenHeaders ?? pairsOf(recorded.request.headers), leftOut);
  const body = Buffer.from(changes.body ?? bodyOf(recorded));
  check(method, target, headers, body);
  const isEdited = Object.values(changes).some((change) => change !== undefined);
  const sent = { method, target, headers, body: body.toString('base64') };
  return {
    request: { accountId, edgeId: entryId, host, isTls, ...sent, source, of: id, isEdited },
    leftOut: [...leftOut],
  };
}

function check(method: string, target: string, headers: readonly string[], body: Buffer): void {
  if (!isToken(method)) refuse('the method is one word, such as POST');
  // With a host of its own it would go elsewhere.
  if (!/^\/[\x21-\x7e]*$/.test(target) || target.includes('#'))
    refuse('`target` begins with "/" and has no blanks and only ASCII characters');
  if (target.includes(masked)) refuse('the path was masked: give `target`');
  for (let at = 0; at < headers.length; at += 2) {
    if (!isToken(headers[at] ?? '')) refuse('a header has a name that headers cannot have');
    if (!isFieldValue(headers[at + 1] ?? '')) refuse('a header has a character that headers cannot have');
  }
  if (body.includes(masked)) refuse('its body has masked values: give a `body` with others in their place');
  if (body.length > mostBodyBytes) refuse(`a body has ${mostBodyBytes} bytes at most`);
  const head = headers.reduce((length, text) => length + text.length, target.length);
  if (head > mostHead) refuse(`path and headers have ${mostHead} characters at most together`);
}

/** Without the parameters whose value was masked. */
function withoutMasked(target: string, leftOut: Set<string>): string {
  const mark = target.indexOf('?');
  if (mark < 0) return target;
  const kept = target
    .slice(mark + 1)
    .split('&')
    .filter((field) => {
      const isMasked = field.includes(masked);
      if (isMasked) leftOut.add(`?${field.split('=', 1)[0] ?? ''}`);
      return !isMasked;
    });
  return kept.length === 0 ? target.slice(0, mark) : `${target.slice(0, mark)}?${kept.join('&')}`;
}

function headersOf(
  pairs: readonly { readonly name: string; readonly value: string }[],
  leftOut: Set<string>,
): readonly string[] {
  return pairs.flatMap(({ name, value }) => {
    const lower = name.toLowerCase();
    if (notSent.has(lower)) return [];
    if (!value.includes(masked)) return [name, value];
    leftOut.add(lower);
    return [];
  });
}

function bodyOf({ request }: InspectedRequest): string {
  if (request.bodyBytes === 0) return '';
  if (request.body === undefined) refuse('its body is no text and was not kept: give `body`');
  if (!request.isBodyWhole) refuse('only the start of its body was kept: give `body`');
  return request.body ?? '';
}

function pairsOf(headers: readonly string[]): readonly { readonly name: string; readonly value: string }[] {
  return headers.flatMap((name, at) => (at % 2 === 0 ? [{ name, value: headers[at + 1] ?? '' }] : []));
}

function refuse(reason: string): never {
  throw new UserError(errors.notReplayable, { reason });
}
