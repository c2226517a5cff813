import { isMap, isScalar, isSeq } from 'yaml';
import type { Node } from 'yaml';

import type { UserError } from '../../../errors/user-error.ts';
import type { Steps } from '../../../lib/steps.ts';
import { yamlSteps } from './read-text.ts';

/** Paths in messages; a key of a map that is written otherwise ends it early. */
const pathPattern = /\bon_(?:tcp_connect|http_request|http_response)(?:\[\d+\]|\.[A-Za-z_][\w-]*)*/;
const characterPattern = /\(character (\d+)\)\.?$/;

type Path = readonly (string | number)[];

/** The same error, whose message begins with the line and the column in the text of the policy. */
export function* withPlace(error: UserError, text: string): Steps<UserError> {
  const [path] = pathPattern.exec(error.message) ?? [];
  if (path === undefined) return error;
  const steps = Array.from(path.matchAll(/\[(\d+)\]|[^.[\]]+/g), ([name, index]) =>
    index === undefined ? name : Number(index),
  );
  const isOfJson = isJson(text);
  yield;
  const start = yield* isOfJson ? placeInJson(text, steps) : placeInYaml(text, steps);
  if (start === undefined) return error;
  const [, character] = characterPattern.exec(error.message) ?? [];
  const at = start + (character === undefined ? 0 : lengthBefore(text.slice(start), Number(character)));
  const before = text.slice(0, at);
  return error.at(`line ${before.split('\n').length}, column ${at - before.lastIndexOf('\n')}`);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Length of the text before a character of a value, where the value is written on one line and as it is. */
function lengthBefore(source: string, character: number): number {
  const [quote = ''] = /^["']/.exec(source) ?? [];
  const before = source.slice(quote.length, quote.length + character - 1);
  return /[\n\\|>]/.test(before.slice(0, 1)) || /[\n\\]|''/.test(before) ? 0 : quote.length + character - 1;
}

const tokensAtOnce = 5_000;
const jsonToken = /"(?:[^"\\]|\\.)*"|[{}[\]:,]|[^\s"{}[\]:,]+/g;

/** Where a value begins, or the innermost one around it that is there. */
function* placeInJson(text: string, path: Path): Steps<number | undefined> {
  let [depth, found, next]: [number, number | undefined, number] = [0, undefined, 0];
  // Index or key of each level that is open; a key is not known before it is read.
  const levels: (string | number | undefined)[] = [];
  let lastText: string | undefined;
  let seen = 0;
  for (const { 0: token, index } of text.matchAll(jsonToken)) {
    if (++seen % tokensAtOnce === 0) yield;
    if (token === ':') {
      levels[depth - 1] = lastText;
      continue;
    }
    if (token === ',') {
      const level = levels[depth - 1];
      levels[depth - 1] = typeof level === 'number' ? level + 1 : undefined;
      continue;
    }
    if (token === '}' || token === ']') {
      levels.pop();
      depth--;
      // What was looked for inside of it is not there.
      if (depth < next) return found;
      continue;
    }
    const isKey = token.startsWith('"') && depth > 0 && levels[depth - 1] === undefined;
    if (isKey) lastText = String(JSON.parse(token));
    else if (depth === next && (depth === 0 || levels[depth - 1] === path[depth - 1])) {
      found = index;
      if (next === path.length || (token !== '{' && token !== '[')) return found;
      next++;
    }
    if (token === '{' || token === '[') {
      levels.push(token === '[' ? 0 : undefined);
      depth++;
    }
  }
  return found;
}

function* placeInYaml(text: string, path: Path): Steps<number | undefined> {
  const { document } = yield* yamlSteps(text);
  let node: Node | null = document.contents;
  for (const step of path) {
    const below: unknown = isMap(node) || isSeq(node) ? node.get(step, true) : undefined;
    if (!isScalar(below) && !isMap(below) && !isSeq(below)) break;
    node = below;
  }
  return node?.range?.[0];
}
