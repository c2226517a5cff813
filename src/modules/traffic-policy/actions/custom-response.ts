import { invalidValue } from '../errors.ts';
import type { Piece } from '../document/template.ts';
import type { Action } from './action.ts';
import { headerLines, readHeaders } from './header-texts.ts';

const mostHeaders = 10;

/** Answers in place of the upstream, or in place of its answer. */
export const customResponse: Action = {
  type: 'custom-response',
  phases: ['on_http_request', 'on_http_response'],
  guards: false,
  build(config) {
    const status = config.integer('status_code', 200, 599) ?? 200;
    const [body, former] = [config.template('body'), config.template('content')];
    if (body !== undefined && former !== undefined)
      throw config.fault(invalidValue, 'content', 'it is the former name of body, and body is given too; leave it out');
    const text = body ?? former;
    const isEmpty = status === 204 || status === 205 || status === 304;
    if (isEmpty && text !== undefined && text.constant !== '')
      throw config.fault(
        invalidValue,
        body === undefined ? 'content' : 'body',
        `an answer with ${status} has no body; leave it out`,
      );
    const headers = readHeaders(config, 'headers', mostHeaders) ?? [];
    const hasType = headers.some(([name]) => name === 'content-type');
    return {
      ends: true,
      guards: status >= 400,
      run(visit) {
        const pieces = text?.pieces(visit) ?? [];
        const own = pieces.map((piece) => piece.text).join('');
        const lines = headerLines(headers, visit);
        const all = hasType || own === '' ? lines : [...lines, 'content-type', typeOf(own, pieces[0])];
        return { kind: 'answer', answer: { status, headers: all, body: own }, isChanged: true };
      },
      facts: { changes: headers.map(([name]) => name) },
    };
  },
};

/** The type that a body looks like. It is a page only if that is written out: values that are filled in may come from visitors. */
function typeOf(body: string, first: Piece | undefined): string {
  if (/^\s{0,512}[{[]/.test(body) && isJson(body)) return 'application/json';
  const start = first?.isValue === false ? first.text.slice(0, 512).trimStart() : '';
  return /^<(?:!doctype html|html|head|body|h1|p|div)\b/i.test(start)
    ? 'text/html; charset=utf-8'
    : 'text/plain; charset=utf-8';
}

/** Longest text that is parsed only to find out what it is. */
const longestLooked = 65_536;

function isJson(text: string): boolean {
  if (text.length > longestLooked) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
