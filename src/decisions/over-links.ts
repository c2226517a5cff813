import { columns } from './columns.ts';
import type { DecisionRow } from './columns.ts';
import type { Answer, Asked, Followed, QuestionKind, SourceRange } from './messages.ts';
import { questionKinds, topFields } from './messages.ts';

/** A question as another process of the installation sends it: JSON, in which large numbers are texts. */
export interface LinkQuestion {
  readonly about: 'decisions';
  readonly kind: QuestionKind;
  readonly asked: object;
}

/** What became of it there. */
export type LinkReply =
  | { readonly state: 'answered'; readonly gateway: string; readonly dropped: number; readonly answer: unknown }
  | { readonly state: 'keeps_none' | 'busy' | 'failed' };

export function writeQuestion<Kind extends QuestionKind>(kind: Kind, asked: Asked<Kind>): LinkQuestion {
  const source = 'source' in asked ? asked.source : undefined;
  const halves = source && [source.first.high, source.first.low, source.last.high, source.last.low].map(String);
  return { about: 'decisions', kind, asked: { ...asked, ...(halves && { source: halves }) } };
}

const texts = [
  'edgeId',
  'routeId',
  'verdict',
  'module',
  'person',
  'host',
  'rule',
  'requestId',
  'backendId',
  'beforeSuffix',
];
const numbers = ['before', 'fromMs', 'toMs', 'status', 'limit', 'stepMs', 'hoursFromMs', 'after'];
const dimensions = ['edge', 'route', 'restriction', 'backend'];
/** Longest text of a question, and the largest number of rows, intervals and keys. */
const most = { text: 10_000, limit: 10_000, intervals: 100_000, keys: 1_000, followed: 500 };

/**
 * Reads a question of another process. Whatever is not known to it is left out, and what is of the wrong kind is refused: some of
 * it stands in the text of statements.
 */
export function readQuestion(given: unknown): { readonly kind: QuestionKind; readonly asked: Asked<QuestionKind> } {
  if (!isRecord(given) || given['about'] !== 'decisions') throw new Error('it is not about decisions');
  const kind = questionKinds.find((each) => each === given['kind']);
  const { asked } = given;
  if (kind === undefined || !isRecord(asked)) throw new Error('its kind is not known');
  const read: Record<string, unknown> = { accountId: textOf(asked['accountId']) };
  if (!/^\w{1,64}$/.test(String(read['accountId']))) throw new Error('the account has no id');
  for (const name of texts) if (asked[name] !== undefined) read[name] = textOf(asked[name]);
  for (const name of numbers) if (asked[name] !== undefined) read[name] = wholeOf(asked[name]);
  if (asked['source'] !== undefined) read['source'] = sourceOf(asked['source']);
  if (kind === 'after') read['followed'] = followedOf(asked['followed']);
  if (asked['anyOf'] !== undefined) read['anyOf'] = keysOf(asked['anyOf']);
  checkKind(kind, asked, read);
  // Every field of a question was read above, and those that its kind needs are there.
  return { kind, asked: read as unknown as Asked<QuestionKind> };
}

function checkKind(kind: QuestionKind, asked: Record<string, unknown>, read: Record<string, unknown>): void {
  const number = (name: string): number => (typeof read[name] === 'number' ? read[name] : Number.NaN);
  const isWithin = (value: number, limit: number): boolean => value >= 1 && value <= limit;
  if (kind !== 'summary' && !isWithin(number('limit'), most.limit)) throw new Error('it has no limit');
  if (kind === 'after' && (Number.isNaN(number('after')) || number('limit') > most.followed))
    throw new Error('it has no place, or too many rows');
  if (kind === 'list' || kind === 'after') return;
  const range = number('toMs') - number('fromMs');
  if (Number.isNaN(range)) throw new Error('it has no range');
  if (kind === 'summary' && !isWithin(range / number('stepMs'), most.intervals)) throw new Error('it has no interval');
  if (kind !== 'top') return;
  const order = ['requests', 'refused'].find((each) => each === asked['order']);
  const by = topFields.find((each) => each === asked['by']);
  if (order === undefined || by === undefined) throw new Error('it has no order');
  Object.assign(read, { order, by });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string {
  if (typeof value !== 'string' || value.length > most.text) throw new Error('a field is no text');
  return value;
}

function wholeOf(value: unknown): number {
  if (!Number.isSafeInteger(value)) throw new Error('a field is no whole number');
  return Number(value);
}

function halfOf(value: unknown): bigint {
  if (typeof value !== 'string' || !/^\d{1,20}$/.test(value)) throw new Error('a field is no address');
  return BigInt(value);
}

function sourceOf(value: unknown): SourceRange {
  if (!Array.isArray(value) || value.length !== 4) throw new Error('a field is no network');
  const [firstHigh, firstLow, lastHigh, lastLow] = value.map(halfOf) as [bigint, bigint, bigint, bigint];
  return { first: { high: firstHigh, low: firstLow }, last: { high: lastHigh, low: lastLow } };
}

function keysOf(value: unknown): object[] {
  if (!Array.isArray(value) || value.length > most.keys) throw new Error('a field is no list');
  return value.map((each: unknown) => {
    if (!isRecord(each) || !dimensions.some((dimension) => dimension === each['dimension']))
      throw new Error('a key has no dimension');
    return { dimension: each['dimension'], key: textOf(each['key']) };
  });
}

function followedOf(value: unknown): readonly Followed[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > 10) throw new Error('a field is no list');
  return value.map((each: unknown) => {
    const kind = (['https', 'tcp'] as const).find((known) => isRecord(each) && known === each['kind']);
    if (kind === undefined || !isRecord(each)) throw new Error('a kind is not known');
    return each['path'] === undefined ? { kind } : { kind, path: textOf(each['path']) };
  });
}

const names = Object.keys(columns);
const isLarge = Object.values(columns).map((type) => type.endsWith('BIGINT'));

/** Answers that have rows. */
function hasRows(kind: QuestionKind): kind is 'list' | 'after' {
  return kind === 'list' || kind === 'after';
}

/** An answer as JSON can hold it. */
export function writeAnswer<Kind extends QuestionKind>(kind: Kind, answer: Answer<Kind>): object {
  if (!hasRows(kind)) return answer;
  // The kind is that of the answer.
  const { rows, ...rest } = answer as Answer<'list' | 'after'>;
  return {
    rows: rows.map((row) =>
      Object.values(inOrder(row)).map((each) => (typeof each === 'bigint' ? String(each) : each)),
    ),
    ...rest,
  };
}

function inOrder(row: DecisionRow): Readonly<Record<string, unknown>> {
  const values: Record<string, unknown> = { ...row };
  return Object.fromEntries(names.map((name) => [name, values[name]]));
}

/** Reads the reply of another process, which is of this installation: its answer-links.ts replies so. */
export function readReply(reply: unknown): LinkReply {
  return isRecord(reply) && typeof reply['state'] === 'string' ? (reply as unknown as LinkReply) : { state: 'failed' };
}

/** Reads the answer of another process, which is of this installation and answers as `writeAnswer` writes. */
export function readAnswer<Kind extends QuestionKind>(kind: Kind, answer: unknown): Answer<Kind> {
  if (!isRecord(answer)) throw new Error('the answer cannot be read');
  // The other process runs the same program.
  if (!hasRows(kind)) return answer as unknown as Answer<Kind>;
  const { rows, ...rest } = answer;
  if (!Array.isArray(rows)) throw new Error('the answer cannot be read');
  const read = rows.map((row: unknown) => {
    if (!Array.isArray(row)) throw new Error('the answer cannot be read');
    return Object.fromEntries(
      names.map((name, at) => [name, isLarge[at] === true ? BigInt(String(row[at])) : row[at]]),
    );
  });
  return { rows: read, ...rest } as unknown as Answer<Kind>;
}
