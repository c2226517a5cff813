import type { Operations } from '../../../../client/src/index.ts';

type Target = Operations['EventDestinationsCreate']['body']['target'];
export type TargetName = 'email' | 'webhook' | 'syslog' | 'otlp' | 'file';

interface TargetField {
  readonly name: string;
  readonly label: string;
  /** Words of the button while it is empty. */
  readonly missing: string;
  readonly hint?: string;
  readonly placeholder: string;
  readonly note?: string;
  readonly isMono?: boolean;
  readonly isOptional?: boolean;
}

/** Places to which nothing has been sent yet. */
export const targetTitles: Readonly<Record<TargetName, string>> = {
  email: 'E-mail to…',
  webhook: 'A server of yours (webhook)…',
  syslog: 'A syslog receiver…',
  otlp: 'An OpenTelemetry collector…',
  file: 'A file on the machine of Gatehouse…',
};

export const targetFields: Readonly<Record<TargetName, readonly TargetField[]>> = {
  email: [
    {
      name: 'to',
      label: 'Addresses',
      missing: 'Give it an address',
      hint: 'Up to 5, with commas between them. They get one message a minute at most.',
      placeholder: 'ops@example.com',
    },
  ],
  webhook: [
    {
      name: 'url',
      label: 'URL',
      missing: 'Give it a URL',
      placeholder: 'https://hooks.example.com/gatehouse',
      isMono: true,
    },
    {
      name: 'secret',
      label: 'Signing secret',
      missing: 'Give it a secret',
      hint: 'Copy it now: the server checks with it that events are from here, and it is not shown again.',
      placeholder: 'whsec_',
      isMono: true,
    },
  ],
  syslog: [
    { name: 'host', label: 'Host', missing: 'Give it a host', placeholder: 'logs.example.com', isMono: true },
    {
      name: 'port',
      label: 'Port',
      missing: '',
      note: 'optional, 6514 without it',
      placeholder: '6514',
      isMono: true,
      isOptional: true,
    },
  ],
  otlp: [
    {
      name: 'collector',
      label: 'URL of the collector',
      missing: 'Give it a URL',
      hint: 'Headers with keys are set with the API.',
      placeholder: 'https://collector.example.com:4318',
      isMono: true,
    },
  ],
  file: [{ name: 'file', label: 'Name', missing: 'Give it a name', placeholder: 'events.jsonl', isMono: true }],
};

export function targetOf(kind: TargetName, values: Readonly<Record<string, string>>): Target {
  const value = (name: string): string => (values[name] ?? '').trim();
  switch (kind) {
    case 'email':
      return {
        email: {
          to: value('to')
            .split(/[\s,;]+/)
            .filter((address) => address !== ''),
        },
      };
    case 'webhook':
      return { webhook: { url: value('url'), secret: value('secret') } };
    case 'syslog': {
      const port = value('port');
      return { syslog: { host: value('host'), ...(port !== '' && { port: Number(port) }) } };
    }
    case 'otlp':
      return { otlp: { url: value('collector') } };
    default:
      return { file: { name: value('file') } };
  }
}

export function newSecret(): string {
  return `whsec_${btoa(String.fromCodePoint(...crypto.getRandomValues(new Uint8Array(32))))}`;
}
