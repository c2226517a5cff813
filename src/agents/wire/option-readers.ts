import { connectionHeaders, isFieldValue, isToken } from '../../lib/http-syntax.ts';
import { parseCidr } from '../../lib/ip/cidr.ts';
import type { FieldReader } from './fields.ts';
import { isObject } from './json-value.ts';
import type { BasicCredential, EndpointOptions, HeaderOptions } from './options.ts';

const maxItems = 64;
const maxText = 4096;
const maxPem = 192 * 1024;
const maxPattern = 512;

export function readProxyProto(outer: FieldReader, name: string): Partial<EndpointOptions> {
  const version = outer.number(name, 0, 2);
  if (version !== 0 && version !== 1 && version !== 2) throw outer.fault(name, 'must be 0, 1 or 2');
  return { proxyProto: version };
}

export function readIpRestriction(outer: FieldReader, name: string): Partial<EndpointOptions> {
  const fields = outer.inner(name);
  const read = (list: string): readonly string[] =>
    fields.texts(list, 1000, 64).map((text) => {
      const parsed = parseCidr(text);
      if (!parsed.ok) throw fields.fault(list, `holds ${JSON.stringify(text)}, which ${parsed.reason}`);
      return parsed.canonical;
    });
  return { ipRestriction: { allow: read('allow_cidrs'), deny: read('deny_cidrs') } };
}

export function readHeaders(outer: FieldReader, name: string): HeaderOptions {
  const fields = outer.inner(name);
  const add = fields.texts('add', maxItems, maxText).map((line) => {
    const colon = line.indexOf(':');
    const pair = [line.slice(0, Math.max(colon, 0)).toLowerCase(), line.slice(colon + 1).trim()] as const;
    if (!isHeaderName(pair[0]) || !isFieldValue(pair[1]))
      throw fields.fault('add', 'must hold headers of the form "name:value" that do not frame messages');
    return pair;
  });
  const remove = fields.texts('remove', maxItems, 256).map((header) => {
    if (!isHeaderName(header.toLowerCase()))
      throw fields.fault('remove', 'must hold names of headers that do not frame messages');
    return header.toLowerCase();
  });
  return { add, remove };
}

function isHeaderName(name: string): boolean {
  return isToken(name) && !connectionHeaders.has(name);
}

export function readLegacyAuth(outer: FieldReader, name: string): Partial<EndpointOptions> {
  const text = outer.text(name, maxText);
  const colon = text.indexOf(':');
  if (colon < 1) throw outer.fault(name, 'must be of the form "user:password"');
  return { basicAuth: [{ username: text.slice(0, colon), password: { plain: text.slice(colon + 1) } }] };
}

export function readBasicAuth(outer: FieldReader, name: string): Partial<EndpointOptions> {
  const fields = outer.inner(name);
  const credentials = fields.innerList('credentials', maxItems).map((each): BasicCredential => {
    const username = each.text('username', 256);
    const plain = each.text('cleartext_password', 256);
    const hash = each.text('hashed_password', 1024);
    if (username === '' || (plain === '') === (hash === ''))
      throw fields.fault('credentials', 'must hold a username and one form of password each');
    return { username, password: plain === '' ? { hash: decodeBase64(each, 'hashed_password') } : { plain } };
  });
  if (credentials.length === 0) throw fields.fault('credentials', 'must not be empty');
  return { basicAuth: credentials };
}

export function readMutualTls(outer: FieldReader, name: string): Partial<EndpointOptions> {
  return { mutualTlsCa: readPem(outer.inner(name), 'mutual_tls_ca') };
}

export function readUserAgentFilter(outer: FieldReader, name: string): Partial<EndpointOptions> {
  const fields = outer.inner(name);
  const read = (list: string): readonly string[] => fields.texts(list, maxItems, maxPattern);
  return { userAgentFilter: { allow: read('allow'), deny: read('deny') } };
}

export function readTermination(outer: FieldReader, name: string): Partial<EndpointOptions> {
  const fields = outer.inner(name);
  if (fields.text('sealed_key', maxPem) !== '') throw fields.fault('sealed_key', 'cannot be opened here; send key');
  const hasPair = fields.text('cert', maxPem) !== '' || fields.text('key', maxPem) !== '';
  return {
    tlsTermination: { pair: hasPair ? { cert: readPem(fields, 'cert'), key: readPem(fields, 'key') } : undefined },
  };
}

function readPem(fields: FieldReader, name: string): string {
  const text = decodeBase64(fields, name);
  if (!text.includes('-----BEGIN ')) throw fields.fault(name, 'must be PEM, as base64');
  return text;
}

function decodeBase64(fields: FieldReader, name: string): string {
  const text = fields.text(name, maxPem);
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text)) throw fields.fault(name, 'must be base64');
  return Buffer.from(text, 'base64').toString('utf8');
}

/** The policy of older agents, which is an object. */
export function readFormerPolicy(outer: FieldReader, name: string): Partial<EndpointOptions> {
  const policy = outer.raw(name);
  if (!isObject(policy)) throw outer.fault(name, 'must be an object');
  return { formerPolicy: policy };
}
