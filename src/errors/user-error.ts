import { maskTokens } from '../lib/mask-tokens.ts';

/**
 * One error that a caller can meet. `Names` are the words in braces of its message, which every `UserError` fills in.
 * Numbers below 20000 are those of the public service where one fits; our own start at 20000.
 */
export interface ErrorDefinition<Names extends string = string> {
  readonly code: number;
  /** The HTTP status. */
  readonly status: number;
  /** Shown to the caller: the fault, the value it has, and the remedy. */
  readonly message: string;
  /** Carries the type only; never set. */
  readonly names?: Names;
}

/** The words in braces of a message: `'no {noun}'` → `'noun'`. */
type Placeholder<Message> = Message extends `${string}{${infer Name}}${infer Rest}` ? Name | Placeholder<Rest> : never;

/** Defines an error beside the code that throws it. `docs/errors.md` is generated from all definitions. */
export function defineError<const Message extends string>(
  code: number,
  status: number,
  message: Message,
): ErrorDefinition<Placeholder<Message>> {
  return { code, status, message };
}

type Headers = Readonly<Record<string, string>>;
type Values<Names extends string> = Readonly<Record<Names, string | number>>;

/** A fault of the caller (or a state the caller must know of). Its text is shown to the caller as it is. */
export class UserError<Names extends string = string> extends Error {
  override readonly name = 'UserError';
  readonly code: number;
  readonly status: number;
  /** Response headers that belong to this answer, such as `Allow`. */
  readonly headers: Headers;
  #detail: string | undefined;

  constructor(
    { code, status, message }: ErrorDefinition<Names>,
    ...rest: [Names] extends [never] ? [headers?: Headers] : [values: Values<Names>, headers?: Headers]
  ) {
    const hasValues = message.includes('{');
    const [first, second] = rest as readonly (Values<string> | Headers | undefined)[];
    super(hasValues ? fill(message, first ?? {}) : message);
    this.code = code;
    this.status = status;
    // The type of `rest` puts headers after the values, or first when a message has none.
    this.headers = ((hasValues ? second : first) ?? {}) as Headers;
  }

  /** What logs tell: the message, and what its caller must not read. */
  get logged(): string {
    return this.#detail === undefined ? this.message : `${this.message} (${this.#detail})`;
  }

  /** Adds what logs alone tell. */
  withDetail(detail: string | undefined): this {
    this.#detail = detail;
    return this;
  }

  /** Returns the error with a message that begins with the place that it is about. */
  at(place: string): UserError {
    const { code, status, message, headers } = this;
    return new UserError({ code, status, message: '{text}' }, { text: `${place}: ${message}` }, headers);
  }
}

function fill(message: string, values: Values<string>): string {
  return message.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
}

/** Characters of a caller's value that a message repeats: the longest paths of the API and a few words more. */
const shownLength = 200;

/** Longer than a token, so that one that the cut would leave half of is still found. */
const tokenMargin = 100;

/** Quotes a value of the caller's for a message: on one line, cut short, and without the secrets of tokens. */
export function quote(value: unknown): string {
  const whole = JSON.stringify(value) ?? 'undefined';
  const masked = maskTokens(whole.slice(0, shownLength + tokenMargin));
  if (masked.length <= shownLength && whole.length <= shownLength + tokenMargin) return masked;
  return `${masked.slice(0, shownLength)}…${typeof value === 'string' ? '"' : ''}`;
}

/** Ends a reason that stands last in a message; one that ends with a question does already. */
export function asSentence(reason: string): string {
  return /[.?!]$/.test(reason) ? reason : `${reason}.`;
}

/** Headers of an answer to somebody who may come again at once, in seconds. */
export const retryLater = { 'Retry-After': '1' };
