import { errorTable } from './table.ts';

type Table = typeof errorTable;
export type ErrorCode = keyof Table;

/** The words in braces of a message: `'no {noun}'` → `'noun'`. */
type Placeholder<Message> = Message extends `${string}{${infer Name}}${infer Rest}` ? Name | Placeholder<Rest> : never;
type Names<Code extends ErrorCode> = Placeholder<Table[Code]['message']>;
type Values<Code extends ErrorCode> = [Names<Code>] extends [never]
  ? []
  : [values: Readonly<Record<Names<Code>, string | number>>];

/** A fault of the caller (or a state the caller must know of). Its text is shown to the caller as it is. */
export class UserError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'UserError';
  readonly code: Code;
  readonly status: number;
  /** Response headers that belong to this answer, such as `Allow`. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: Code, ...rest: [...Values<Code>, headers?: Readonly<Record<string, string>>]) {
    const { message, status } = errorTable[code];
    const hasValues = message.includes('{');
    const [first, second] = rest as readonly (Readonly<Record<string, string | number>> | undefined)[];
    super(hasValues ? fill(message, first ?? {}) : message);
    this.code = code;
    this.status = status;
    // The tuple type above puts headers after the values, or first when a message has none.
    this.headers = ((hasValues ? second : first) ?? {}) as Readonly<Record<string, string>>;
  }
}

function fill(message: string, values: Readonly<Record<string, string | number>>): string {
  return message.replaceAll(/\{(\w+)\}/g, (_, name: string) => String(values[name]));
}

/** The longest paths of the API and a few words more. */
const shownLength = 200;

/** A value of the caller's as it may stand in a message: quoted, on one line, cut short. */
export function quote(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined';
  if (text.length <= shownLength) return text;
  return `${text.slice(0, shownLength)}…${typeof value === 'string' ? '"' : ''}`;
}
