import { METHODS } from 'node:http';

import { malformedRequest } from '../../../../errors/shared.ts';
import { UserError } from '../../../../errors/user-error.ts';
import { listTokens } from '../../../../lib/http-syntax.ts';
import { versionNotServed } from '../../../errors.ts';
import type { RequestBody } from '../../exchange.ts';
import { MalformedMessage, parseFields } from '../../framing/fields.ts';
import { notAcceptable } from '../../routing/request-target.ts';

/** The head of a request, as it was sent. */
export interface RequestHead {
  readonly method: string;
  readonly target: string;
  readonly protocol: '1.0' | '1.1';
  /** Name, value, name, value, … */
  readonly headers: readonly string[];
  readonly host: string | undefined;
  readonly body: RequestBody;
  /** The value of `Upgrade`, where `Connection` names it. */
  readonly upgrade: string | undefined;
  /** No other request may follow on the connection. */
  readonly closes: boolean;
  /** The error to answer with, if two readers could read this head differently. */
  readonly fault: UserError | undefined;
}

const methods: ReadonlySet<string> = new Set(METHODS);
const requestLine = /^([A-Z-]+) ([\x21-\x7e]+) HTTP\/1\.([01])$/;
/** Lines that other readers take for a request: of other versions and protocols, and with several blanks. */
const likeRequestLine = /^([A-Z-]+) +[\x21-\x7e]+ *(?: ([A-Z]+)\/([0-9]\.[0-9]))?$/;
/** Versions that exist and are not served here. */
const otherVersions: ReadonlySet<string> = new Set(['0.9', '2.0']);
const length = /^[0-9]{1,16}$/;

interface Framing {
  host: string | undefined;
  body: RequestBody;
  upgrade: string | undefined;
  expects: boolean;
  connection: string[];
  fault: string | undefined;
}

/** Lengths of the names of headers that must be looked at: comparing these first spares most headers the look-up. */
const decisiveLengths: ReadonlySet<number> = new Set(
  ['host', 'content-length', 'transfer-encoding', 'connection', 'proxy-connection', 'upgrade', 'expect'].map(
    (name) => name.length,
  ),
);

/** `text` is the head up to its empty line, in Latin-1, each line with its line break. Throws a `UserError`. */
export function parseRequestHead(text: string): RequestHead {
  const lineEnd = text.indexOf('\r\n');
  const { method, target, protocol } = parseRequestLine(text.slice(0, lineEnd));
  const headers = readFields(text, lineEnd + 2);
  const framing = readFraming(headers, protocol);
  const { host, body, connection, expects, fault } = framing;
  const isKept = protocol === '1.1' || connection.includes('keep-alive');
  const upgrade = connection.includes('upgrade') ? framing.upgrade : undefined;
  return {
    method,
    target,
    protocol,
    headers,
    host,
    // A length of 0 does not keep a connection from changing its protocol.
    body: upgrade !== undefined && typeof body === 'object' && body.length === 0 ? 'none' : body,
    upgrade,
    // A client that expects to be told to continue may or may not send its body after another answer.
    closes: !isKept || connection.includes('close') || upgrade !== undefined || method === 'CONNECT' || expects,
    fault: fault === undefined ? undefined : notAcceptable(fault),
  };
}

/** Throws if the line is not one of HTTP/1.1 or HTTP/1.0 with single spaces, which is all that every reader reads alike. */
export function parseRequestLine(line: string): Pick<RequestHead, 'method' | 'target' | 'protocol'> {
  const [, method = '', target = '', minor] = requestLine.exec(line) ?? [];
  if (minor === undefined) throw faultOfLine(line);
  if (!methods.has(method)) throw malformed('unknown method');
  return { method, target, protocol: minor === '1' ? '1.1' : '1.0' };
}

/** Throws if it is not a line of `name: value`. */
export function checkFieldLine(line: string): void {
  readFields(line, 0);
}

export function malformed(reason: string): UserError {
  return new UserError(malformedRequest, { reason });
}

function readFields(text: string, at: number): string[] {
  try {
    return parseFields(text, at, Infinity);
  } catch (error) {
    if (error instanceof MalformedMessage) throw malformed(error.message);
    throw error;
  }
}

function faultOfLine(line: string): UserError {
  const [, method = '', protocol = 'HTTP', version = '0.9'] = likeRequestLine.exec(line) ?? [];
  if (protocol === 'HTTP' && !methods.has(method)) return malformed('malformed request line');
  if (protocol !== 'HTTP' || version === '1.0' || version === '1.1')
    return notAcceptable('its first line is not a method, a target and "HTTP/1.1", with one space between them');
  return otherVersions.has(version) ? new UserError(versionNotServed, { version }) : malformed('unknown HTTP version');
}

function readFraming(headers: readonly string[], protocol: '1.0' | '1.1'): Framing {
  const framing: Framing = {
    host: undefined,
    body: 'none',
    upgrade: undefined,
    expects: false,
    connection: [],
    fault: undefined,
  };
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? '';
    if (decisiveLengths.has(name.length)) readDecisive(framing, name.toLowerCase(), headers[at + 1] ?? '', protocol);
  }
  return framing;
}

function readDecisive(framing: Framing, name: string, value: string, protocol: '1.0' | '1.1'): void {
  switch (name) {
    case 'host':
      if (framing.host !== undefined) framing.fault = 'it has more than one Host header';
      framing.host = value;
      break;
    case 'content-length':
      if (framing.body !== 'none') framing.fault = 'the length of its body is given twice';
      framing.body = { length: Number(value) };
      if (!length.test(value)) framing.fault = 'the length of its body is not a number';
      else if (!Number.isSafeInteger(framing.body.length)) framing.fault = 'its body is too large';
      break;
    case 'transfer-encoding':
      if (framing.body !== 'none') framing.fault = 'the length of its body is given twice';
      if (value.toLowerCase() !== 'chunked' || protocol === '1.0')
        framing.fault = 'its transfer coding is not supported';
      framing.body = 'chunked';
      break;
    case 'connection':
      framing.connection.push(...listTokens(value));
      break;
    case 'proxy-connection':
      // Not of any standard, and obeyed by some readers: behind it they would see no other request.
      if (listTokens(value).includes('close')) framing.connection.push('close');
      break;
    case 'upgrade':
      framing.upgrade = framing.upgrade === undefined ? value : `${framing.upgrade}, ${value}`;
      break;
    case 'expect':
      framing.expects = true;
      break;
  }
}
