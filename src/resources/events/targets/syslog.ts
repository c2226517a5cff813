import { isIP } from 'node:net';

import { Type } from 'typebox';

import { text } from '../../../api/body/text-fields.ts';
import { quote, UserError } from '../../../errors/user-error.ts';
import * as errors from '../errors.ts';
import type { Kept, TargetKind } from './target-kind.ts';

const protocols = ['tls', 'tcp', 'udp'] as const;
const usualPorts = { tls: 6514, tcp: 601, udp: 514 } as const;
const host = text(253, 'Name or address of the receiver. Max 253 bytes.', 'logs.example.com');
const protocol = Type.String({
  enum: [...protocols],
  description:
    'tls (the default): the certificate must be valid for the host. tcp: nothing is encrypted. udp: nothing is encrypted, and nobody knows what arrives.',
  examples: ['tls'],
});
const port = Type.Integer({
  minimum: 1,
  maximum: 65_535,
  description: 'Port of the receiver; by default 6514 (tls), 601 (tcp) or 514 (udp).',
  examples: [6514],
});

interface Given {
  readonly host: string;
  readonly port?: number;
  readonly protocol?: Kept<'syslog'>['protocol'];
}

export const syslogTarget: TargetKind<'syslog', Given> = {
  input: Type.Object(
    { host, port: Type.Optional(port), protocol: Type.Optional(protocol) },
    { additionalProperties: false, description: 'A syslog receiver, which gets messages as RFC 5424 has them.' },
  ),
  view: Type.Object({ host, port, protocol }, { description: 'The syslog receiver.' }),
  accept(given) {
    if (isIP(given.host) === 0 && !/^[a-z0-9-]+(\.[a-z0-9-]+)*$/i.test(given.host))
      throw new UserError(errors.unusableSyslogHost, { host: quote(given.host) });
    const { protocol: chosen = 'tls' } = given;
    return { kept: { host: given.host, port: given.port ?? usualPorts[chosen], protocol: chosen }, secret: null };
  },
  open: (kept) => ({ kind: 'syslog', protocol: kept.protocol, host: kept.host, port: kept.port }),
};
