import { compile } from '../../../lib/cel/compile.ts';
import { encodeJson } from '../../../lib/cel/functions/encodings.ts';
import { formatDuration, formatTimestamp } from '../../../lib/cel/functions/time-text.ts';
import { parseEmbedded } from '../../../lib/cel/parse.ts';
import type { Run } from '../../../lib/cel/run.ts';
import { ExpressionFault } from '../../../lib/cel/syntax-fault.ts';
import { asList, CelMap, Duration, Timestamp, TypeName, Uint } from '../../../lib/cel/values.ts';
import type { Value } from '../../../lib/cel/values.ts';
import { checkText } from '../../../lib/cel/operators.ts';
import { UserError } from '../../../errors/user-error.ts';
import { invalidInterpolation, tooLong } from '../errors.ts';
import type { PolicyVisit } from '../run/policy-visit.ts';
import type { BuildContext } from './build-context.ts';
import { bytesOf, noteReads } from './reads.ts';

/** A text with expressions in it, as in `Hello ${req.host}`. */
export interface Template {
  /** The text, where it has no expression. */
  readonly constant: string | undefined;
  /** The parts; an expression is undefined. */
  readonly literals: readonly (string | undefined)[];
  /** Throws `EvaluationFault`. */
  text(this: void, visit: PolicyVisit): string;
  /** The same in pieces. */
  pieces(this: void, visit: PolicyVisit): readonly Piece[];
  /** The value of its only expression, or its text. */
  value(this: void, visit: PolicyVisit): Value;
}

/** A part of a text. */
export interface Piece {
  readonly text: string;
  /** True: an expression has made it. */
  readonly isValue: boolean;
}

type Part = string | Run<PolicyVisit>;

/** Most characters of all expressions of one action. */
const mostCharacters = 16_384;
/** Units that each of them counts beside its own. */
const charactersOfOne = 16;

export function countCharacters(length: number, path: string, { ofAction }: BuildContext): void {
  ofAction.characters += length + charactersOfOne;
  if (ofAction.characters > mostCharacters + charactersOfOne)
    throw new UserError(tooLong, {
      path,
      length: `${ofAction.characters} characters of expressions in one action`,
      limit: mostCharacters,
      remedy: 'Divide the action.',
    });
}

export function constantTemplate(text: string): Template {
  const pieces = [{ text, isValue: false }];
  return { constant: text, literals: [text], text: () => text, pieces: () => pieces, value: () => text };
}

/** Reads a text. Throws `UserError` for an expression that cannot be compiled. */
export function readTemplate(source: string, path: string, context: BuildContext): Template {
  context.reads.memory.bytes += bytesOf.expression + source.length * 2;
  if (!source.includes('${')) return constantTemplate(source);
  const parts = readParts(source, path, context);
  const pieces = (visit: PolicyVisit): readonly Piece[] => {
    let length = 0;
    return parts.map((part) => {
      const isValue = typeof part !== 'string';
      const filled = isValue ? textOf(part(visit.frame), visit) : part;
      length += filled.length;
      checkText(length, visit.frame);
      return { text: filled, isValue };
    });
  };
  const text = (visit: PolicyVisit): string =>
    pieces(visit)
      .map((piece) => piece.text)
      .join('');
  const [only] = parts;
  const value = typeof only === 'function' && parts.length === 1 ? only : undefined;
  return {
    constant: undefined,
    literals: parts.map((part) => (typeof part === 'string' ? part : undefined)),
    text,
    pieces,
    value: (visit) => (value === undefined ? text(visit) : value(visit.frame)),
  };
}

function readParts(source: string, path: string, context: BuildContext): readonly Part[] {
  const refuse = ({ message, at }: ExpressionFault): UserError =>
    new UserError(invalidInterpolation, { path, reason: `${message} (character ${at})` });
  const parts: Part[] = [];
  let from = 0;
  while (from < source.length) {
    const start = source.indexOf('${', from);
    if (start !== from) {
      context.reads.memory.bytes += bytesOf.item;
      parts.push(source.slice(from, start < 0 ? source.length : start));
    }
    if (start < 0) break;
    try {
      const { node, end } = parseEmbedded(source, start + 2);
      countCharacters(end - start - 2, path, context);
      noteReads(node, context.reads, refuse);
      parts.push(compile(node, context.environment).run);
      from = end + 1;
    } catch (error) {
      throw error instanceof ExpressionFault ? refuse(error) : error;
    }
  }
  return parts;
}

/** A value as it stands in a text. */
export function textOf(value: Value, { frame }: PolicyVisit): string {
  if (typeof value === 'string') return value;
  if (value instanceof Timestamp) return formatTimestamp(value);
  if (value instanceof Duration) return formatDuration(value);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof CelMap || asList(value) !== undefined) return encodeJson(value, frame);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('utf8');
  if (value instanceof TypeName) return value.name;
  // Lists have been written.
  return `${value as number | bigint | boolean | null}`;
}
