import type { InspectedRequest } from '../gateway/engine.ts';
import type { Inspections } from './inspections.ts';

/** An inspection as processes of an installation tell each other of it. */
export interface KnownInspection {
  readonly id: string;
  readonly subjectId: string;
  readonly startedBy: string;
  readonly ageMs: number;
  readonly leftMs: number;
  /** Requests that this process keeps, and those that it could not record. */
  readonly recorded: number;
  readonly leftOut: number;
}

/** The inspections of an account, as far as a process knows them. */
export interface SharedInspections {
  readonly known: readonly KnownInspection[];
  /** Ids of those that have ended. */
  readonly ended: readonly string[];
}

/** Asks for the requests of one inspection that have come after the one of this number. */
export interface RequestsWanted {
  readonly id: string;
  readonly after: number;
  /** Only this one of them. */
  readonly requestId?: string | undefined;
}

/** Tells another process, and asks what it knows. */
export interface InspectionQuestion extends SharedInspections {
  readonly about: 'inspections';
  readonly accountId: string;
  readonly of?: RequestsWanted | undefined;
}

export interface InspectionReply extends SharedInspections {
  readonly requests: readonly InspectedRequest[];
  /** Number of the newest request of the inspection. */
  readonly newest: number;
}

export const mostOfAccount = 5;
export const longestInspectionMs = 3_600_000;
/** More than a process remembers of one account. */
const mostEnded = 100;

/** Takes what another process tells, and answers with what this one knows. Throws over what it cannot read. */
export function answerInspections(inspections: Inspections, question: unknown): InspectionReply {
  const { accountId, of, ...told } = readQuestion(question);
  inspections.learn(accountId, told);
  return inspections.reply(accountId, of);
}

function readQuestion(given: unknown): Omit<InspectionQuestion, 'about'> {
  if (!isRecord(given) || given['about'] !== 'inspections') throw new Error('it is not about inspections');
  const { of } = given;
  return {
    accountId: idOf(given['accountId']),
    ...readShared(given),
    of: isRecord(of) ? readWanted(of) : undefined,
  };
}

function readWanted(of: Record<string, unknown>): RequestsWanted {
  return {
    id: idOf(of['id']),
    after: wholeOf(of['after'], Number.MAX_SAFE_INTEGER),
    requestId: of['requestId'] === undefined ? undefined : idOf(of['requestId']),
  };
}

/** Reads the reply of another process, which is of this installation: its requests are as it has recorded them. */
export function readReply(accountId: string, given: unknown): InspectionReply {
  if (!isRecord(given) || !Array.isArray(given['requests'])) throw new Error('the reply cannot be read');
  const requests = given['requests'] as InspectedRequest[];
  return {
    ...readShared(given),
    requests: requests.filter((each) => each.accountId === accountId),
    newest: wholeOf(given['newest'], Number.MAX_SAFE_INTEGER),
  };
}

function readShared(given: Record<string, unknown>): SharedInspections {
  const { known, ended } = given;
  if (!Array.isArray(known) || known.length > mostOfAccount) throw new Error('there are too many inspections');
  if (!Array.isArray(ended) || ended.length > mostEnded) throw new Error('too many inspections have ended');
  return { known: known.map(readKnown), ended: ended.map(idOf) };
}

function readKnown(given: unknown): KnownInspection {
  if (!isRecord(given)) throw new Error('an inspection is no object');
  return {
    id: idOf(given['id']),
    subjectId: idOf(given['subjectId']),
    startedBy: idOf(given['startedBy']),
    ageMs: wholeOf(given['ageMs'], longestInspectionMs),
    leftMs: wholeOf(given['leftMs'], longestInspectionMs),
    recorded: wholeOf(given['recorded'], Number.MAX_SAFE_INTEGER),
    leftOut: wholeOf(given['leftOut'], Number.MAX_SAFE_INTEGER),
  };
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function idOf(value: unknown): string {
  if (typeof value !== 'string' || !/^\w{1,64}$/.test(value)) throw new Error('a field is no id');
  return value;
}

function wholeOf(value: unknown, most: number): number {
  if (!Number.isSafeInteger(value) || Number(value) < 0 || Number(value) > most)
    throw new Error('a field is no number that may stand there');
  return Number(value);
}
