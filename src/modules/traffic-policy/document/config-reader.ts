import { compile } from '../../../lib/cel/compile.ts';
import type { Compiled } from '../../../lib/cel/compile.ts';
import { parseDurationNanos } from '../../../lib/cel/functions/time-text.ts';
import { parseTokens } from '../../../lib/cel/parse.ts';
import type { Run } from '../../../lib/cel/run.ts';
import { ExpressionFault } from '../../../lib/cel/syntax-fault.ts';
import { tokenize } from '../../../lib/cel/tokens.ts';
import type { Node } from '../../../lib/cel/tree.ts';
import type { Type } from '../../../lib/cel/types.ts';
import { any } from '../../../lib/cel/types.ts';
import { quote, UserError } from '../../../errors/user-error.ts';
import { nearestName } from '../../../lib/nearest-name.ts';
import { finishNow } from '../../../lib/steps.ts';
import type { Steps } from '../../../lib/steps.ts';
import * as errors from '../errors.ts';
import type { Phase } from '../phases.ts';
import type { PolicyVisit } from '../run/policy-visit.ts';
import type { BuildContext } from './build-context.ts';
import type { Variables } from '../variables/variable.ts';
import { ofSecrets } from '../variables/secrets.ts';
import { countCharacters, readTemplate } from './template.ts';
import type { Template } from './template.ts';
import { bytesOf, noteReads } from './reads.ts';

/** Longest text of an expression. */
const longestExpression = 16_384;

/**
 * Reads the fields of one object of a policy. Each method takes the name of a field; one that is absent or null is undefined, and a
 * field that nobody has asked for when all are read is refused (`finish`). Every error names the path.
 */
export class ConfigReader {
  readonly path: string;
  readonly context: BuildContext;
  readonly #fields: ReadonlyMap<string, unknown>;
  readonly #asked = new Set<string>();

  constructor(value: unknown, path: string, context: BuildContext) {
    this.path = path;
    this.context = context;
    this.#fields = fieldsOf(value, path);
  }

  /** Names of all fields that are given. */
  get names(): readonly string[] {
    return [...this.#fields.keys()];
  }

  get phase(): Phase {
    return this.context.phase;
  }

  /** Refuses fields that nobody has asked for. */
  finish(): void {
    for (const name of this.#fields.keys()) {
      if (this.#asked.has(name)) continue;
      const nearest = nearestName(name, [...this.#asked]);
      const remedy =
        nearest === undefined
          ? `the fields here are ${[...this.#asked].join(', ') || 'none'}`
          : `did you mean ${nearest}?`;
      throw this.fault(errors.invalidConfig, name, `there is no such field; ${remedy}`);
    }
  }

  /** The path of a field, for messages. */
  at(name: string): string {
    return `${this.path}.${name}`;
  }

  fault(definition: typeof errors.invalidValue, name: string, reason: string): UserError {
    return new UserError(definition, { path: this.at(name), reason });
  }

  raw(name: string): unknown {
    this.#asked.add(name);
    return this.#fields.get(name) ?? undefined;
  }

  /** Throws if the value that a method has returned is undefined. */
  required<Value>(name: string, value: Value | undefined): Value {
    if (value === undefined) throw new UserError(errors.missingValue, { field: name, path: this.path });
    return value;
  }

  boolean(name: string): boolean | undefined {
    const value = this.raw(name);
    if (value === undefined || typeof value === 'boolean') return value;
    throw this.#wrongType(name, 'true or false', value);
  }

  number(name: string, least: number, most: number): number | undefined {
    const value = this.raw(name);
    if (value === undefined) return undefined;
    if (typeof value !== 'number') throw this.#wrongType(name, 'a number', value);
    if (value >= least && value <= most) return value;
    throw new UserError(errors.numberOutOfRange, { path: this.at(name), least, most, value });
  }

  integer(name: string, least: number, most: number): number | undefined {
    const value = this.number(name, least, most);
    if (value === undefined || Number.isInteger(value)) return value;
    throw this.#wrongType(name, 'a whole number', value);
  }

  /** A duration as in `10s`, in milliseconds. */
  duration(name: string, leastMs: number, mostMs: number): number | undefined {
    const given = this.text(name);
    if (given === undefined) return undefined;
    const nanos = parseDurationNanos(given);
    const ms = nanos === undefined ? Number.NaN : Number(nanos / 1_000_000n);
    if (ms >= leastMs && ms <= mostMs) return ms;
    const [least, most] = [`${leastMs / 1000}s`, `${mostMs / 1000}s`];
    throw new UserError(errors.durationOutOfRange, { path: this.at(name), least, most, value: quote(given) });
  }

  /** A text that is taken as it is. */
  text(name: string): string | undefined {
    const value = this.raw(name);
    if (value === undefined || typeof value === 'string') return value;
    throw this.#wrongType(name, 'a text', value);
  }

  oneOf<const Word extends string>(name: string, words: readonly Word[]): Word | undefined {
    const given = this.text(name);
    if (given === undefined) return undefined;
    const found = words.find((word) => word === given);
    if (found !== undefined) return found;
    throw new UserError(errors.notOneOf, { path: this.at(name), value: quote(given), all: words.join(', ') });
  }

  /** A text in which `${…}` is filled in. */
  template(name: string): Template | undefined {
    const value = this.raw(name);
    return value === undefined ? undefined : this.#templateOf(value, this.at(name));
  }

  /** A text in which `${…}` is filled in before there is a visit: it may name secrets alone. */
  secretTemplate(name: string): Template | undefined {
    const value = this.text(name);
    return value === undefined ? undefined : this.#secretTemplateOf(value, this.at(name));
  }

  secretTemplates(name: string, most: number): readonly Template[] | undefined {
    return this.texts(name, most)?.map((item, at) => this.#secretTemplateOf(item, `${this.at(name)}[${at}]`));
  }

  /** Texts in which `${…}` is filled in. */
  templates(name: string, most: number): readonly Template[] | undefined {
    return this.#list(name, most)?.map((item, at) => this.#templateOf(item, `${this.at(name)}[${at}]`));
  }

  texts(name: string, most: number): readonly string[] | undefined {
    return this.#list(name, most)?.map((item, at) => {
      if (typeof item === 'string') return item;
      throw this.#wrongType(`${name}[${at}]`, 'a text', item);
    });
  }

  /** A map of texts in which `${…}` is filled in. An empty list counts as an empty map. */
  templateMap(name: string, most: number): ReadonlyMap<string, Template> | undefined {
    const value = this.raw(name);
    if (value === undefined) return undefined;
    const entries =
      Array.isArray(value) && value.length === 0 ? new Map<string, unknown>() : fieldsOf(value, this.at(name));
    this.#checkCount(name, entries.size, most);
    return new Map(
      Array.from(entries, ([key, each]) => [key, this.#templateOf(each ?? '', `${this.at(name)}.${key}`)] as const),
    );
  }

  /** Objects, each to be read and finished by the caller. */
  objects(name: string, most: number): readonly ConfigReader[] | undefined {
    return this.#list(name, most)?.map((item, at) => new ConfigReader(item, `${this.at(name)}[${at}]`, this.context));
  }

  object(name: string): ConfigReader | undefined {
    const value = this.raw(name);
    return value === undefined ? undefined : new ConfigReader(value, this.at(name), this.context);
  }

  /** An expression without `${}`, whose value must be of a type. */
  expression(name: string, wanted?: Type): Run<PolicyVisit> | undefined {
    const source = this.text(name);
    return source === undefined ? undefined : compileExpression(source, this.at(name), this.context, wanted).run;
  }

  /** The same with more names than those of the phase. */
  expressionWith(name: string, variables: Variables, wanted: Type): Run<PolicyVisit> | undefined {
    const source = this.text(name);
    if (source === undefined) return undefined;
    const { environment } = this.context;
    const more = { ...environment, variables: new Map([...environment.variables, ...Object.entries(variables)]) };
    return compileExpression(source, this.at(name), { ...this.context, environment: more }, wanted).run;
  }

  expressions(name: string, most: number): readonly Run<PolicyVisit>[] | undefined {
    return this.texts(name, most)?.map(
      (source, at) => compileExpression(source, `${this.at(name)}[${at}]`, this.context).run,
    );
  }

  #templateOf(value: unknown, path: string): Template {
    if (typeof value === 'string') return readTemplate(value, path, this.context);
    // YAML reads 200 and true without quotes as what they are.
    if (typeof value === 'number' || typeof value === 'boolean') return readTemplate(String(value), path, this.context);
    throw wrongType(path, 'a text', value);
  }

  #secretTemplateOf(value: string, path: string): Template {
    return readTemplate(value, path, { ...this.context, environment: ofSecrets });
  }

  #list(name: string, most: number): readonly unknown[] | undefined {
    const value = this.raw(name);
    if (value === undefined) return undefined;
    if (!Array.isArray(value)) throw this.#wrongType(name, 'a list', value);
    this.#checkCount(name, value.length, most);
    const { memory } = this.context.reads;
    for (const item of value) memory.bytes += bytesOf.item + (typeof item === 'string' ? item.length * 2 : 0);
    return value;
  }

  #checkCount(name: string, count: number, limit: number): void {
    if (count > limit) throw new UserError(errors.tooManyElements, { path: this.at(name), count, limit });
  }

  #wrongType(name: string, wanted: string, value: unknown): UserError {
    return wrongType(this.at(name), wanted, value);
  }
}

type CompiledExpression = Compiled<PolicyVisit> & { readonly node: Node };

function compileExpression(
  source: string,
  path: string,
  context: BuildContext,
  wanted: Type = any,
): CompiledExpression {
  countCharacters(source.length, path, context);
  return finishNow(expressionSteps(source, path, context, wanted));
}

/** The same in steps: an expression at its limit takes some milliseconds in each. */
export function* expressionSteps(
  source: string,
  path: string,
  { environment, reads }: BuildContext,
  wanted: Type,
): Steps<CompiledExpression> {
  if (source.length > longestExpression)
    throw new UserError(errors.tooLong, {
      path,
      length: `${source.length} characters`,
      limit: longestExpression,
      remedy: 'Divide the expression.',
    });
  const refuse = ({ message, at }: ExpressionFault): UserError =>
    new UserError(errors.invalidExpression, { path, reason: `${message} (character ${at})` });
  try {
    const tokens = tokenize(source);
    yield;
    const node = parseTokens(tokens);
    yield;
    noteReads(node, reads, refuse);
    yield;
    return { ...compile(node, environment, wanted), node };
  } catch (error) {
    throw error instanceof ExpressionFault ? refuse(error) : error;
  }
}

export function wrongType(path: string, wanted: string, value: unknown): UserError {
  return new UserError(errors.invalidConfig, { path, reason: `it must be ${wanted}, and is ${quote(value)}` });
}

/** The fields of an object; null has none. */
export function fieldsOf(value: unknown, path: string): ReadonlyMap<string, unknown> {
  if (value === undefined || value === null) return new Map();
  if (typeof value !== 'object' || Array.isArray(value)) throw wrongType(path, 'a map', value);
  return new Map(Object.entries(value));
}
