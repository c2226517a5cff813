import { serviceKey } from './services.ts';

/** The outcome of a question at another process. */
export type Heard =
  | { readonly state: 'heard'; readonly reply: unknown }
  /** `no_answer`: it stands still. `unreachable`: no link leads to it, or it does not take the question. */
  | { readonly state: 'no_answer' | 'unreachable' };

/** Asks another process of the installation. Rejects only with `AbandonedError`, once nobody waits for the answer. */
export type AskProcess = (processId: string, question: object, isAbandoned?: () => boolean) => Promise<Heard>;

export const otherProcesses = serviceKey<AskProcess>('other processes');
