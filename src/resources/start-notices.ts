import { serviceListKey } from './services.ts';

/** Something about the stored configuration that the operator must know at the start; undefined if all is well. */
export type StartNotice = () => Promise<string | undefined>;

/** A line of the log that follows the greeting. */
export interface Notice {
  readonly level: 'info' | 'warn';
  readonly message: string;
}

export const startNotices = serviceListKey<StartNotice>('notices at the start');
