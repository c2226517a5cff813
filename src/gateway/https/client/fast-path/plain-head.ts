/** The head of a request that has no body and asks nothing of its connection but to be kept or closed. */
export interface PlainHead {
  readonly method: string;
  readonly target: string;
  readonly host: string;
  /** Name, value, name, value, … as sent. */
  readonly headers: readonly string[];
  /** The client wants no further answer on this connection. */
  readonly close: boolean;
}

/** Narrower than HTTP: a head that two readers could read differently does not match, nor do many legal ones. */
const plainForm =
  /^(?:GET|HEAD|OPTIONS|DELETE) \/[\x21-\x7e]* HTTP\/1\.1\r\n(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e]*\r\n)+\r\n$/;

/** A request with one of these is left to the slow path: they frame a body, or are about the connection. */
export const disqualifyingHeaders: ReadonlySet<string> = new Set([
  'content-length',
  'transfer-encoding',
  'upgrade',
  'expect',
  'trailer',
  // Node's parser obeys it like `Connection`.
  'proxy-connection',
]);

/** Lengths of all names that must be looked at: comparing lengths first spares most headers the look-up. */
const decisiveLengths: ReadonlySet<number> = new Set(
  ['host', 'connection', ...disqualifyingHeaders].map((name) => name.length),
);

const connectionOptions: ReadonlySet<string> = new Set(['close', 'keep-alive']);

/** In bytes. Longer heads are rare, and Node's limit for them lies beyond. */
const longestHead = 16_384;

/** Answers undefined unless the bytes are exactly one plain head. */
export function readPlainHead(bytes: Buffer): PlainHead | undefined {
  if (bytes.length > longestHead) return undefined;
  const text = bytes.toString('latin1');
  if (!plainForm.test(text)) return undefined;
  const lineEnd = text.indexOf('\r\n');
  const space = text.indexOf(' ');
  const headers: string[] = [];
  let host: string | undefined;
  let connection = '';
  for (let at = lineEnd + 2; at < text.length - 2;) {
    const end = text.indexOf('\r\n', at);
    const colon = text.indexOf(':', at);
    const name = text.slice(at, colon);
    const value = text.slice(colon + 1, end).trim();
    headers.push(name, value);
    at = end + 2;
    if (!decisiveLengths.has(name.length)) continue;
    const lower = name.toLowerCase();
    if (disqualifyingHeaders.has(lower)) return undefined;
    if (lower === 'host') {
      if (host !== undefined) return undefined;
      host = value;
    } else if (lower === 'connection') {
      if (connection !== '' || !connectionOptions.has(value.toLowerCase())) return undefined;
      connection = value.toLowerCase();
    }
  }
  if (host === undefined) return undefined;
  const target = text.slice(space + 1, lineEnd - 9);
  return { method: text.slice(0, space), target, host, headers, close: connection === 'close' };
}
