import { optional, orOff, readWholeNumber } from './values.ts';

/** Settings of the targets of events that only the operator can provide. */
export const eventSettings = {
  eventFiles: {
    form: 'folder',
    help: 'folder below which accounts may have events written to files, or "off"',
    fallback: 'off',
    read: orOff(String),
  },
  eventFilesMaxSize: {
    form: 'mebibytes',
    help: 'most mebibytes of such files of one account; beyond it the oldest that are full are removed',
    fallback: '128',
    read: readWholeNumber(16, 1_048_576),
  },
  smtpUrl: {
    form: 'url',
    help: 'mail server for events that accounts have sent as e-mail: smtp://user:password@host:587 or smtps://user:password@host',
    fallback: '',
    read: optional(readSmtpUrl),
    secret: true,
  },
  smtpFrom: {
    form: 'address',
    help: 'sender of these messages, such as gatehouse@example.com',
    fallback: '',
    read: optional(readSender),
  },
  smtpSeconds: {
    form: 'seconds',
    help: 'shortest time between two messages to the same people; what happens meanwhile comes in one',
    fallback: '60',
    read: readWholeNumber(1, 86_400),
  },
  smtpHourly: {
    form: 'messages',
    help: 'messages that one account may have sent within an hour',
    fallback: '60',
    read: readWholeNumber(1, 100_000),
  },
} as const;

function readSmtpUrl(text: string): string {
  const url = URL.parse(text);
  if (url === null || !['smtp:', 'smtps:'].includes(url.protocol) || url.hostname === '')
    throw new Error('write it as smtp://user:password@host:587 or smtps://user:password@host');
  if (!['', '/'].includes(url.pathname) || url.search !== '' || url.hash !== '')
    throw new Error('leave out what follows the host and port');
  if ((url.username === '') !== (url.password === '')) throw new Error('give both user and password, or neither');
  return text;
}

function readSender(text: string): string {
  if (!/^[^\s@<>",;:]+@[^\s@<>",;:]+$/.test(text)) throw new Error('write an e-mail address without a name');
  return text;
}

/** Faults of settings that belong together. */
export function eventFaults(config: {
  readonly smtpUrl?: string | undefined;
  readonly smtpFrom?: string | undefined;
}): readonly string[] {
  if (config.smtpUrl !== undefined && config.smtpFrom === undefined)
    return ['GATEHOUSE_SMTP_URL needs GATEHOUSE_SMTP_FROM, the sender of messages'];
  return [];
}
