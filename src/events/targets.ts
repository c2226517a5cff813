import { oneLine } from './one-line.ts';
import type { EventTarget, Outcome } from './event.ts';
import { sendToEmail } from './targets/email.ts';
import type { MailServer } from './targets/email.ts';
import { sendToFile } from './targets/file.ts';
import type { EventFolder } from './targets/file.ts';
import { sendToOtlp } from './targets/otlp.ts';
import type { Batch } from './targets/send-to.ts';
import { sendToSyslog } from './targets/syslog.ts';
import type { SyslogRoads } from './targets/syslog.ts';
import { sendToWebhook } from './targets/webhook.ts';
import type { FetchFor } from '../sign-in/guarded-fetch.ts';

/** An attempt is over after this time, whatever the receiver does. */
export const attemptMs = 10_000;
const longestReason = 200;

/** Sends events that go out together. Rejects only when the signal ends the attempt. */
export type Send = (accountId: string, target: EventTarget, events: Batch, signal: AbortSignal) => Promise<Outcome>;

export interface SendParts {
  /** Decides where connections may lead. */
  readonly fetchFor: FetchFor;
  readonly syslog: SyslogRoads;
  /** Undefined where the operator has named none. */
  readonly folder: EventFolder | undefined;
  readonly mailServer: MailServer | undefined;
}

export function createSend({ fetchFor, syslog, folder, mailServer }: SendParts): Send {
  const webhook = sendToWebhook(fetchFor);
  const otlp = sendToOtlp(fetchFor);
  const file = sendToFile(folder);
  const email = sendToEmail(mailServer);
  const toSyslog = sendToSyslog(syslog);
  const attempt = (accountId: string, target: EventTarget, events: Batch, signal: AbortSignal): Promise<Outcome> => {
    const common = { accountId, events, signal };
    if (target.kind === 'webhook') return webhook({ ...common, target });
    if (target.kind === 'otlp') return otlp({ ...common, target });
    if (target.kind === 'file') return file({ ...common, target });
    if (target.kind === 'email') return email({ ...common, target });
    return toSyslog({ ...common, target });
  };
  return async (accountId, target, events, signal) => {
    const limit = AbortSignal.timeout(attemptMs);
    try {
      return withShortText(await attempt(accountId, target, events, AbortSignal.any([signal, limit])));
    } catch (error) {
      if (signal.aborted) throw error;
      return { kind: 'failed', reason: limit.aborted ? 'it did not answer in 10 seconds' : reasonOf(error) };
    }
  };
}

function reasonOf(error: unknown): string {
  return short(error instanceof Error ? error.message : String(error));
}

/** Receivers choose some of the words, and each event that is given up is kept with them. */
function withShortText(outcome: Outcome): Outcome {
  if (outcome.kind !== 'sent') return { ...outcome, reason: short(outcome.reason) };
  return outcome.remark === undefined ? outcome : { ...outcome, remark: short(outcome.remark) };
}

function short(text: string): string {
  return oneLine(text).slice(0, longestReason).toWellFormed();
}
