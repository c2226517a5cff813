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

/** Narrower than HTTP: what two readers could see differently is not plain, and many legal things are not either. */
const plainForm =
  /^(?:GET|HEAD|OPTIONS|DELETE) \/[\x21-\x7e]* HTTP\/1\.1\r\n(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e]*\r\n)+\r\n$/;

/** They frame a body, or are about the connection. */
const notPlain: ReadonlySet<string> = new Set(['content-length', 'transfer-encoding', 'upgrade', 'expect', 'trailer']);

const connectionWishes: ReadonlySet<string> = new Set(['close', 'keep-alive']);

const longest = 16_384;

/** Undefined where the bytes are not exactly one plain head. */
export function readPlainHead(bytes: Buffer): PlainHead | undefined {
  if (bytes.length > longest) return undefined;
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
    // By length first: few names are as long as one that matters.
    switch (name.length) {
      case 4:
        if (name.toLowerCase() !== 'host') break;
        if (host !== undefined) return undefined;
        host = value;
        break;
      case 10:
        if (name.toLowerCase() !== 'connection') break;
        if (connection !== '' || !connectionWishes.has(value.toLowerCase())) return undefined;
        connection = value.toLowerCase();
        break;
      case 6:
      case 7:
      case 14:
      case 17:
        if (notPlain.has(name.toLowerCase())) return undefined;
        break;
    }
  }
  if (host === undefined) return undefined;
  const target = text.slice(space + 1, lineEnd - 9);
  return { method: text.slice(0, space), target, host, headers, close: connection === 'close' };
}
