import { parseHostPort } from '../lib/host-port.ts';

export type TunnelKind = 'http' | 'tcp' | 'tls';

/** The program that visitors are taken to. */
export interface Target {
  readonly host: string;
  readonly port: number;
  /** True if it is spoken to over TLS. */
  readonly isTls: boolean;
  /** For people to read, such as `http://localhost:3000`. */
  readonly url: string;
}

/** Something that is wrong with how the command was called; its message says what to write instead. */
export class UsageFault extends Error {
  override readonly name = 'UsageFault';
}

const schemes: Readonly<Record<TunnelKind, readonly string[]>> = {
  http: ['http', 'https'],
  tcp: ['tcp'],
  tls: ['tls'],
};
const usualPorts: Readonly<Record<string, number>> = { http: 80, https: 443 };
const examples: Readonly<Record<TunnelKind, string>> = {
  http: '3000, host:3000, http://host:3000 or https://host',
  tcp: '22, host:22 or tcp://host:22',
  tls: '8443, host:8443 or tls://host:8443',
};
const portPattern = /^[0-9]{1,5}$/;
const urlPattern = /^(?:([a-z]+):\/\/)?([^/?#]+)\/?$/i;

/** Reads a target: a port of this machine, `host:port`, or a URL without a path. Throws a `UsageFault`. */
export function parseTarget(kind: TunnelKind, text: string): Target {
  const [, scheme = schemes[kind][0] ?? kind, address = ''] = urlPattern.exec(text) ?? [];
  const name = scheme.toLowerCase();
  if (address === '' || !schemes[kind].includes(name)) throw refuse(kind, text, 'is not a target of this command');
  const usual = text.includes('://') ? usualPorts[name] : undefined;
  const parsed = parseHostPort(withPort(address, usual));
  if (!parsed.ok) throw refuse(kind, text, parsed.reason);
  const { host, port } = parsed;
  const shown = host.includes(':') ? `[${host}]` : host;
  return { host, port, isTls: name === 'https', url: `${name}://${shown}${port === usual ? '' : `:${port}`}` };
}

function withPort(address: string, usual: number | undefined): string {
  if (portPattern.test(address)) return `localhost:${address}`;
  const hasPort = /:[0-9]+$/.test(address);
  return hasPort || usual === undefined ? address : `${address}:${usual}`;
}

function refuse(kind: TunnelKind, text: string, reason: string): UsageFault {
  return new UsageFault(`the target ${JSON.stringify(text)} ${reason}. Give ${examples[kind]}.`);
}
