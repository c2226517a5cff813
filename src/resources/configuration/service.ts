import type { Call } from '../../api/call.ts';
import type { Queries } from '../../store/database.ts';
import type { Past } from '../configuration-kind.ts';
import { serviceKey } from '../services.ts';
import type { Moment } from './moment.ts';

export interface EarlierMoments {
  /**
   * Reads how resources of these kinds of the change log were at a moment, as a text names it. Throws `UserError` for one that is
   * not kept, and where too many are being read.
   */
  read<Result>(
    call: Pick<Call, 'caller' | 'isAbandoned'>,
    at: string,
    kinds: readonly string[],
    work: (queries: Queries, past: Past, moment: Moment) => Promise<Result>,
  ): Promise<Result>;
}

export const earlierMoments = serviceKey<EarlierMoments>('earlier moments');
