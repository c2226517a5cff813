import type { AskedOptions } from '../agents/wire/bind-message.ts';
import type { HeaderOptions } from '../agents/wire/options.ts';
import type { TunnelPlan } from './sign-in.ts';
import { parseTarget, UsageFault } from './target.ts';
import type { TunnelKind } from './target.ts';

/** The tunnel as it is asked for on the command line. */
export interface TunnelFlags {
  readonly scheme?: 'http' | 'https';
  readonly domain?: string;
  readonly remoteAddr?: string;
  readonly label?: readonly string[];
  readonly allowCidr?: readonly string[];
  readonly denyCidr?: readonly string[];
  readonly requestHeaderAdd?: readonly string[];
  readonly requestHeaderRemove?: readonly string[];
  readonly responseHeaderAdd?: readonly string[];
  readonly responseHeaderRemove?: readonly string[];
  readonly compression?: true;
  readonly proxyProtocol?: '1' | '2';
  readonly pooling?: true;
  readonly metadata?: string;
  readonly upstreamInsecure?: true;
}

/** Flags of an endpoint of its own: for labels the edge that is asked for decides all this. */
const endpointFlags: readonly (keyof TunnelFlags)[] = [
  'scheme',
  'domain',
  'remoteAddr',
  'allowCidr',
  'denyCidr',
  'requestHeaderAdd',
  'requestHeaderRemove',
  'responseHeaderAdd',
  'responseHeaderRemove',
  'compression',
  'proxyProtocol',
  'pooling',
];

/** Puts together what the agent asks the server for. `basicAuth` are lines of `user:password`. Throws a `UsageFault`. */
export function planTunnel(
  kind: TunnelKind,
  target: string,
  flags: TunnelFlags,
  basicAuth: readonly string[],
): TunnelPlan {
  const { label = [], metadata = '' } = flags;
  const plan: TunnelPlan = {
    proto: kind === 'http' ? (flags.scheme ?? 'https') : kind,
    target: parseTarget(kind, target),
    upstreamInsecure: flags.upstreamInsecure === true,
    domain: flags.domain ?? '',
    remoteAddr: flags.remoteAddr ?? '',
    labels: label.length === 0 ? undefined : Object.fromEntries(label.map(splitLabel)),
    labelsText: `labels ${label.join(', ')}`,
    options: toOptions(flags, basicAuth),
    metadata,
    poolingEnabled: flags.pooling === true,
  };
  if (plan.upstreamInsecure && !plan.target.isTls)
    throw new UsageFault(`--upstream-insecure is for targets over TLS, such as https://${plan.target.host}`);
  if (plan.labels !== undefined) refuseBesideLabels(flags, basicAuth);
  return plan;
}

function refuseBesideLabels(flags: TunnelFlags, basicAuth: readonly string[]): void {
  const given = endpointFlags.filter((name) => flags[name] !== undefined).map(toFlag);
  const refused = basicAuth.length === 0 ? given : [...given, 'basic authentication'];
  if (refused.length > 0)
    throw new UsageFault(`${refused.join(', ')} cannot go with --label: the edge that the labels lead to decides that`);
}

function toFlag(name: string): string {
  return `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}

function toOptions(flags: TunnelFlags, basicAuth: readonly string[]): AskedOptions {
  const { allowCidr = [], denyCidr = [] } = flags;
  const requestHeaders = toHeaders(flags.requestHeaderAdd, flags.requestHeaderRemove);
  const responseHeaders = toHeaders(flags.responseHeaderAdd, flags.responseHeaderRemove);
  return {
    proxyProto: flags.proxyProtocol === undefined ? 0 : flags.proxyProtocol === '1' ? 1 : 2,
    ...(allowCidr.length + denyCidr.length === 0 ? {} : { ipRestriction: { allow: allowCidr, deny: denyCidr } }),
    ...(requestHeaders && { requestHeaders }),
    ...(responseHeaders && { responseHeaders }),
    ...(flags.compression && { compression: true }),
    ...(basicAuth.length === 0 ? {} : { basicAuth: basicAuth.map(splitCredential) }),
  };
}

function toHeaders(add: readonly string[] = [], remove: readonly string[] = []): HeaderOptions | undefined {
  if (add.length + remove.length === 0) return undefined;
  return {
    add: add.map((text) => {
      const colon = text.indexOf(':');
      if (colon < 1) throw new UsageFault(`the header ${JSON.stringify(text)} has no name. Give "name: value"`);
      return [text.slice(0, colon).trim(), text.slice(colon + 1).trim()] as const;
    }),
    remove,
  };
}

function splitLabel(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new UsageFault(`the label ${JSON.stringify(text)} has no key. Give key=value, such as app=shop`);
  return [text.slice(0, at), text.slice(at + 1)];
}

function splitCredential(line: string, at: number): { readonly username: string; readonly password: string } {
  const colon = line.indexOf(':');
  // The text itself may be a password.
  if (colon < 1) throw new UsageFault(`entry ${at + 1} of the basic authentication is not of the form user:password`);
  return { username: line.slice(0, colon), password: line.slice(colon + 1) };
}
