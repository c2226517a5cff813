import { EvaluationFault } from '../../../lib/cel/run.ts';
import type { Match, Regex } from '../../../lib/regex/regex.ts';
import type { ConfigReader } from '../document/config-reader.ts';
import type { Piece } from '../document/template.ts';
import type { PolicyVisit } from '../run/policy-visit.ts';
import { requestUrl } from '../variables/request-url.ts';
import { compileNow, cutGroups, groupOf, patternOf, regexOf } from './patterns.ts';

const mostMatches = 100;
const longestUrl = 16_384;

/** A change of the URL of a request, as `redirect` and `url-rewrite` make it. */
export interface UrlChange {
  /** Undefined: nothing matches, or nothing is another. */
  run(this: void, visit: PolicyVisit): { readonly url: string; readonly matches: readonly string[] } | undefined;
}

/** Reads `from` and `to`. `isGlobal`: each place that matches is replaced, and not the first alone. */
export function readUrlChange(config: ConfigReader, isGlobal: boolean): UrlChange {
  const from = config.template('from');
  const to = config.required('to', config.template('to'));
  const fixed = from?.constant === undefined ? undefined : regexOf(from.constant, config);
  return {
    run(visit) {
      const pieces = to.pieces(visit);
      const { raw, authority, scheme } = requestUrl(visit);
      if (from === undefined) return changed(raw, expand(pieces, undefined, undefined), [], pieces);
      const pattern = from.constant ?? patternOf(from, visit);
      const regex = fixed ?? compileNow(pattern, visit);
      // People write it, and the whole URL never begins with a path.
      const ofPath = /^\^\\?\//.test(pattern);
      const start = ofPath ? `${scheme}://${authority}` : '';
      const subject = raw.slice(start.length);
      const found = regex.findAll(subject, visit.frame.budget.spend, isGlobal ? mostMatches : 1);
      const [first] = found;
      if (first === undefined) return undefined;
      let text = '';
      let end = 0;
      for (const match of found) {
        text += subject.slice(end, match.start) + expand(pieces, match, regex);
        end = match.end;
        if (text.length > longestUrl) throw new EvaluationFault('the URL is too long');
      }
      text += subject.slice(end);
      // A result that is a whole URL stands for all of it.
      const url = ofPath && !/^https?:\/\//i.test(text) ? start + text : text;
      return changed(
        raw,
        url,
        first.groups.map((group) => group ?? ''),
        pieces,
      );
    },
  };
}

function changed(before: string, url: string, matches: readonly string[], pieces: readonly Piece[]) {
  if (url === before) return undefined;
  const [first] = pieces;
  if (url.startsWith('//') && (first?.isValue !== false || !first.text.startsWith('//')))
    throw new EvaluationFault('a value that is filled in would begin with a host');
  if (url.length > longestUrl) throw new EvaluationFault('the URL is too long');
  return { url, matches };
}

/** Texts and groups of a new URL. */
const mostParts = 100;

/**
 * Fills the groups of a match in. What is filled in never ends the host of a URL whose scheme is written out: otherwise it could lead to
 * any other host.
 */
function expand(pieces: readonly Piece[], match: Match | undefined, regex: Regex | undefined): string {
  let text = '';
  let parts = 0;
  /** As far as it has been written; undefined where no host is being written. */
  let host: string | undefined;
  /** True: a value stands right behind a host, which it would make another one if that ended there. */
  let isLonger = false;
  const endHost = (): void => {
    if (isLonger) throw new EvaluationFault('a value that is filled in would change the host of the URL');
    host = undefined;
  };
  const add = (part: string, isFilledIn: boolean): void => {
    if (isFilledIn && host !== undefined) {
      // A host that is whole may be followed by a path that is filled in.
      const isBehind = /^[/?#]/.test(part) && /[A-Za-z0-9\]]$/.test(host);
      if (!isBehind && !/^[A-Za-z0-9._:[\]-]*$/.test(part))
        throw new EvaluationFault('a value that is filled in would end the host of the URL');
      const isPort = /^:\d{1,5}$/.test(part);
      if (isBehind) endHost();
      else {
        isLonger ||= part !== '' && !isPort && /[A-Za-z0-9\]]$/.test(host);
        host += part;
      }
    }
    if (isFilledIn && text === '/' && /^[/\\]/.test(part))
      throw new EvaluationFault('a value that is filled in would begin with a host');
    text += part;
    if (isFilledIn) return;
    const scheme = part.lastIndexOf('://');
    if (scheme >= 0) host = '';
    if (host === undefined) return;
    const written = scheme < 0 ? part : part.slice(scheme + 3);
    const end = written.search(/[/?#]/);
    // A name that is written out behind the value is the one that counts.
    if (/\.[^.]/.test(end < 0 ? written : written.slice(0, end))) isLonger = false;
    if (end < 0) host += written;
    else endHost();
  };
  for (const piece of pieces) {
    if (piece.isValue || match === undefined) add(piece.text, piece.isValue);
    else
      for (const [part, name] of cutGroups(piece.text)) {
        if (++parts > mostParts) throw new EvaluationFault(`to has more than ${mostParts} texts and groups`);
        add(name === undefined ? part : groupOf(name, match, regex), name !== undefined);
      }
  }
  if (host !== undefined) endHost();
  return encodeText(text);
}

/** A URL in ASCII. Throws for what could end the line, or be read as something else. */
function encodeText(text: string): string {
  if (/[^ -~\u{a0}-\u{10ffff}]|\\/u.test(text))
    throw new EvaluationFault('the URL has a control character or a backslash');
  return text.toWellFormed().replaceAll(/[^\x21-\x7e]+/g, (part) => encodeURIComponent(part));
}
