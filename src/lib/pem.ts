export interface PemBlock {
  /** The words between `BEGIN` and the dashes. */
  readonly label: string;
  readonly bytes: Buffer;
  /** True if there are RFC 1421 header lines, which encrypted keys of the old form have. */
  readonly hasHeaders: boolean;
}

/** Thrown for text that starts like PEM and is damaged. The message never repeats the text. */
export class PemError extends Error {
  override readonly name = 'PemError';
}

const beginLine = /^-----BEGIN ([A-Z0-9][A-Z0-9 ]{0,63})-----$/;
const headerLine = /^[A-Za-z0-9-]+:|^[ \t]/;
// oxlint-disable-next-line no-control-regex -- control characters are what it looks for
const unprintable = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;
const base64Line = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * The blocks of a PEM text, none if it has no BEGIN line. Notes between blocks, which bundles have, are skipped, but
 * dashes there are refused: a damaged block must not pass for a note.
 */
export function readPemBlocks(text: string): PemBlock[] {
  if (!text.includes('-----BEGIN ')) return [];
  if (unprintable.test(text) || !text.isWellFormed()) throw new PemError('it holds control characters');
  const lines = text.split('\n').map((line) => line.trimEnd());
  const blocks: PemBlock[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    const label = beginLine.exec(line)?.[1];
    if (label === undefined) {
      const begin = line.indexOf('-----BEGIN ');
      if (begin >= 0 && line.includes('-----END ', begin)) {
        throw new PemError(`line ${at + 1} holds a whole block: its line breaks are missing (in JSON they are \\n)`);
      }
      if (line.includes('-----')) throw new PemError(`line ${at + 1} is not a BEGIN line`);
      continue;
    }
    const end = lines.indexOf(`-----END ${label}-----`, at + 1);
    if (end < 0) throw new PemError(`the block that begins on line ${at + 1} has no END line`);
    blocks.push(readBody(label, lines, at + 1, end));
    at = end;
  }
  return blocks;
}

function readBody(label: string, lines: readonly string[], from: number, end: number): PemBlock {
  let at = from;
  if (/^[A-Za-z0-9-]+:/.test(lines[at] ?? '')) while (at < end && headerLine.test(lines[at] ?? '')) at++;
  const hasHeaders = at > from;
  const body = lines.slice(at, end).filter((line) => line !== '');
  const damaged = body.findIndex(
    (line, index) => !base64Line.test(line) || (line.endsWith('=') && index < body.length - 1),
  );
  if (damaged >= 0) throw new PemError(`the block that begins on line ${from} holds a line that is not Base64`);
  const base64 = body.join('');
  if (base64.length % 4 !== 0) throw new PemError(`the block that begins on line ${from} is cut short`);
  return { label, bytes: Buffer.from(base64, 'base64'), hasHeaders };
}

/** Writes lines of 64 characters with a line feed after the last, as RFC 7468 requires. */
export function writePem(label: string, bytes: Uint8Array): string {
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
