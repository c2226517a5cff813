import type { Inspections, ReplayOutcome, ReplayRequest } from '../../observe/inspections.ts';
import { serviceKey } from '../services.ts';

/** What is inspected, and what this process has recorded. */
export const inspections = serviceKey<Inspections>('inspections');

/** Sends a request through the gateway of a process; undefined if that does not answer. */
export type SendReplay = (processId: string, request: ReplayRequest) => Promise<ReplayOutcome | undefined>;

export const sendReplay = serviceKey<SendReplay>('replays');
