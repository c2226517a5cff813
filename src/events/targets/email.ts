import { isIP } from 'node:net';
import { getCACertificates } from 'node:tls';

import type { OutgoingEvent, Outcome } from '../event.ts';
import { oneLine } from '../one-line.ts';
import type { SendTo } from './send-to.ts';

/** The operator's server, and who writes. */
export interface MailServer {
  /** `smtp://` or `smtps://`, with user and password where it wants them. */
  readonly url: string;
  readonly from: string;
  /** Authorities that may sign its certificate, in PEM, besides the usual ones. */
  readonly authorities: readonly string[];
  /** Messages that one account may send in an hour. */
  readonly hourly: number;
  /** Takes the place of a message, or returns the time until one is free. */
  readonly take: TakeMail;
}

/** Counts messages of an account within the last hour, of all processes together. */
export type TakeMail = (accountId: string, hourly: number) => Promise<number>;

/** Characters of the JSON of one event in a message. */
const longestDetail = 2_000;
const longestSubject = 150;
const longestReason = 120;

/** Sends events, several in one message, to people whom the account has chosen. */
export function sendToEmail(server: MailServer | undefined): SendTo<'email'> {
  return async ({ accountId, target, events, signal }) => {
    if (server === undefined) return { kind: 'failed', reason: 'this installation has no mail server' };
    const waitMs = await server.take(accountId, server.hourly);
    if (waitMs > 0)
      return { kind: 'later', waitMs, reason: `the account has sent ${server.hourly} messages within an hour` };
    const { rejected } = await send(server, target.to, events, signal);
    return outcomeOf(target.to, rejected);
  };
}

/** Whoever was accepted has the message: it must not come again because another was not. */
function outcomeOf(to: readonly string[], rejected: readonly string[]): Outcome {
  const [first] = rejected;
  if (first === undefined) return { kind: 'sent' };
  const reason = `the mail server did not accept ${rejected.join(', ')}`;
  return rejected.length < to.length ? { kind: 'sent', remark: reason } : { kind: 'failed', reason };
}

async function send(
  { url, from, authorities }: MailServer,
  to: readonly string[],
  events: readonly [OutgoingEvent, ...OutgoingEvent[]],
  signal: AbortSignal,
): Promise<{ readonly rejected: readonly string[] }> {
  // Loaded by the first message.
  const { createTransport } = await import('nodemailer');
  const { protocol, hostname, port, username, password } = new URL(url);
  const host = hostname.replaceAll(/^\[|\]$/g, '');
  const secure = protocol === 'smtps:';
  const transport = createTransport({
    host,
    port: Number(port) || (secure ? 465 : 587),
    secure,
    // A password goes over TLS, or not at all.
    ...(!secure && { requireTLS: username !== '' && !isLoopback(host) }),
    ...(username !== '' && { auth: { user: decodeURIComponent(username), pass: decodeURIComponent(password) } }),
    tls: { ca: [...getCACertificates('default'), ...authorities] },
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    const [first] = events;
    const sent = await transport.sendMail({
      signal,
      from,
      to: to.map((address) => ({ name: '', address })),
      subject: subjectOf(events),
      text: textOf(events),
      messageId: `<${first.id}@gatehouse.invalid>`,
      // Answers of absent people would go round in circles.
      headers: { 'Auto-Submitted': 'auto-generated', Precedence: 'bulk' },
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    return { rejected: sent.rejected.map((each) => oneLine(each).slice(0, longestReason)) };
  } catch (error) {
    throw new Error(explain(error), { cause: error });
  } finally {
    transport.close();
  }
}

/** What the server says of recipients and the message is for the account; where it is, and what it thinks of the installation, is not. */
function explain(error: unknown): string {
  // The library gives its errors a code, and those of answers their status.
  const { code, responseCode, message } = error as { code?: unknown; responseCode?: unknown; message?: unknown };
  const isOfMessage = responseCode !== undefined && (code === 'EENVELOPE' || code === 'EMESSAGE');
  if (isOfMessage) return oneLine(String(message)).slice(0, longestReason);
  return `the mail server of this installation cannot be used${typeof code === 'string' ? ` (${code})` : ''}`;
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || (isIP(host) === 4 && host.startsWith('127.')) || host === '::1';
}

function subjectOf(events: readonly [OutgoingEvent, ...OutgoingEvent[]]): string {
  const [first] = events;
  const more = events.length > 1 ? ` and ${events.length - 1} more` : '';
  return `[Gatehouse] ${first.title.slice(0, longestSubject)}${more}`;
}

function textOf(events: readonly OutgoingEvent[]): string {
  const parts = events.map(({ at, type, id, title, shortBody }) => {
    const detail = shortBody.length <= longestDetail ? `\n  ${shortBody}` : '';
    return `${title}\n  ${at}  ${type}  ${id}${detail}\n`;
  });
  return `${parts.join('\n')}\n-- \nGatehouse sends this because an event subscription of your account names this address.\n`;
}
