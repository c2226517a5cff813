import type { Setting } from './setting.ts';
import { optional, readBaseUrl, readChoice, readList, readSecretText, readWholeNumber } from './values.ts';

const challengeKinds = ['http-01', 'tls-alpn-01'] as const;

/** Settings of public certificates, which an authority issues over ACME. */
export const acmeSettings = {
  acme: {
    form: 'on|off',
    help: 'get public certificates for the host names of edges, agents and reserved domains by ACME: "on" or "off"; "on" accepts the terms of service of the authority',
    fallback: 'off',
    read: readChoice(['on', 'off']),
  },
  acmeEmail: {
    form: 'address',
    help: 'e-mail address at which the authority reaches you',
    fallback: '',
    read: optional(readEmail),
  },
  acmeDirectory: {
    form: 'url',
    help: "directory of the authority; that of Let's Encrypt when not given",
    fallback: 'https://acme-v02.api.letsencrypt.org/directory',
    read: readBaseUrl,
  },
  acmeEabKid: {
    form: 'id',
    help: 'key id of an external account binding, for authorities that ask for one',
    fallback: '',
    read: optional(readSecretText(1)),
  },
  acmeEabKey: {
    form: 'key',
    help: 'key of the external account binding, as the authority shows it (base64url)',
    fallback: '',
    read: optional(readSecretText(1)),
    secret: true,
  },
  acmeChallenges: {
    form: 'kinds',
    help: `ways to prove a name, separated by commas, in the order in which they are tried: ${challengeKinds.join(', ')}`,
    fallback: challengeKinds.join(),
    read: readList(challengeKinds),
  },
  acmeDnsHook: {
    form: 'program',
    help: 'program that adds and removes DNS records, for wildcards: it is called as PROGRAM add|remove NAME VALUE, without a shell',
    fallback: '',
    read: optional(String),
  },
  acmeDnsHookSeconds: {
    form: 'seconds',
    help: 'how long one call of that program may take',
    fallback: '120',
    read: readWholeNumber(1, 3_600),
  },
  certificateFallback: {
    form: 'local-ca|refuse',
    help: 'what a client of a public host name gets while there is no certificate for it: "local-ca", one of the installation\'s own authority, or "refuse", a TLS alert',
    fallback: 'local-ca',
    read: readChoice(['local-ca', 'refuse']),
  },
  acmeKeepDays: {
    form: 'days',
    help: 'days for which an issued certificate is kept after its end, if nothing has its host name any more',
    fallback: '7',
    read: readWholeNumber(0, 3_650),
  },
  acmeOrdersPerHour: {
    form: 'count',
    help: 'certificates that the installation orders in one hour at most; failed orders count',
    fallback: '20',
    read: readWholeNumber(1, 10_000),
  },
} as const satisfies Readonly<Record<string, Setting<unknown>>>;

type AcmeValues = { readonly [Name in keyof typeof acmeSettings]: ReturnType<(typeof acmeSettings)[Name]['read']> };

/** Faults of settings that do not fit each other. */
export function acmeFaults({ acme, acmeEabKid, acmeEabKey, acmeChallenges }: AcmeValues): readonly string[] {
  const faults: string[] = [];
  if ((acmeEabKid === undefined) !== (acmeEabKey === undefined)) {
    faults.push('GATEHOUSE_ACME_EAB_KID and GATEHOUSE_ACME_EAB_KEY belong together: give both or none');
  }
  if (acme === 'on' && acmeChallenges.length === 0) {
    faults.push(`GATEHOUSE_ACME_CHALLENGES: name at least one of ${challengeKinds.join(', ')}`);
  }
  return faults;
}

function readEmail(text: string): string {
  if (!/^[^\s@,?]+@[^\s@,?]+$/.test(text)) throw new Error('write one e-mail address');
  return text;
}
