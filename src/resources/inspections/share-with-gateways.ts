import { UserError } from '../../errors/user-error.ts';
import { FairTurns, TooMuchWaits } from '../../lib/fair-turns.ts';
import type { InspectionQuestion, InspectionReply, RequestsWanted } from '../../observe/inspection-messages.ts';
import { otherProcesses } from '../other-processes.ts';
import { processes } from '../processes/service.ts';
import type { ListedProcess } from '../processes/service.ts';
import type { ResourceContext } from '../resource.ts';
import * as errors from './errors.ts';
import { inspections } from './service.ts';

export const gatewayStates = ['answered', 'no_answer', 'unreachable', 'failed', 'not_asked'] as const;

/** The outcome of a question at one gateway. */
export interface AskedGateway {
  /** Id of its process. */
  readonly processId: string;
  readonly state: (typeof gatewayStates)[number];
  readonly reply?: InspectionReply;
}

/** Other processes that are told and asked at once. */
const mostOthers = 64;
const limits = { atOnce: 8, ofOwner: 2, waiting: 8 };
const turns = new FairTurns(limits);

interface Wanted {
  readonly id: string;
  /** By process: the number of the newest request that the caller has. */
  readonly after: ReadonlyMap<string, number>;
  readonly requestId?: string;
}

/** Tells every gateway what is inspected, and hears what each knows and has recorded. This process knows of all of it then. */
export async function shareWithGateways(
  { services }: ResourceContext,
  accountId: string,
  isAbandoned: () => boolean,
  wanted?: Wanted,
): Promise<readonly AskedGateway[]> {
  const own = services.get(inspections);
  const ask = services.get(otherProcesses);
  const of = ({ id }: ListedProcess): RequestsWanted | undefined =>
    wanted && { id: wanted.id, after: wanted.after.get(id) ?? 0, requestId: wanted.requestId };
  const tell = async (other: ListedProcess): Promise<AskedGateway> => {
    const shared = own.share(accountId);
    const question: InspectionQuestion = { about: 'inspections', accountId, ...shared, of: of(other) };
    const heard = await ask(other.id, question, isAbandoned);
    if (heard.state !== 'heard') return { processId: other.id, state: heard.state };
    try {
      return { processId: other.id, state: 'answered', reply: own.hear(accountId, heard.reply) };
    } catch {
      return { processId: other.id, state: 'failed' };
    }
  };
  const share = async (): Promise<readonly AskedGateway[]> => {
    const gateways = (await services.get(processes).list()).filter(({ role }) => role !== 'api' && role !== 'agents');
    const others = new Set(gateways.filter(({ isSelf }) => !isSelf).slice(0, mostOthers));
    return Promise.all(
      gateways.map(async (each): Promise<AskedGateway> => {
        if (others.has(each)) return tell(each);
        if (!each.isSelf) return { processId: each.id, state: 'not_asked' };
        return { processId: each.id, state: 'answered', reply: own.reply(accountId, of(each)) };
      }),
    );
  };
  return turns.run(accountId, share).catch((error: unknown) => {
    throw error instanceof TooMuchWaits
      ? new UserError(errors.tooManyInspectionCalls, { count: limits.waiting })
      : error;
  });
}

/** The cursor of what has been read: a caller that gives it back gets what has come since. */
export function writeCursor(gateways: readonly AskedGateway[], before: ReadonlyMap<string, number>): string {
  const newest = new Map(before);
  for (const { processId, reply } of gateways) if (reply !== undefined) newest.set(processId, reply.newest);
  // One that is gone has nothing more to say.
  const known = new Set(gateways.map(({ processId }) => processId));
  return [...newest]
    .filter(([processId]) => known.has(processId))
    .map(([processId, number]) => `${processId}:${number}`)
    .join(',');
}

/** Throws over what is no cursor. */
export function readCursor(text: string | undefined): ReadonlyMap<string, number> {
  const read = new Map<string, number>();
  if (text === undefined || text === '') return read;
  for (const part of text.split(',', mostOthers + 1)) {
    const [, processId, number] = /^(\w{1,64}):(\d{1,15})$/.exec(part) ?? [];
    if (processId === undefined) throw new UserError(errors.badCursor);
    read.set(processId, Number(number));
  }
  return read;
}
