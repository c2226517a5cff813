/**
 * Words have 32 bits, most significant first; IPv4 has the first word only, and the others are 0. They are signed,
 * because V8 stores such numbers in the object itself, and one is made for every connection. An IPv4-mapped IPv6 address
 * is always held as family 4, so that both spellings of one host compare alike.
 */
export interface IpAddress {
  readonly family: 4 | 6;
  readonly word0: number;
  readonly word1: number;
  readonly word2: number;
  readonly word3: number;
}

const code0 = 48;
const codeDot = 46;
const codeColon = 58;

/** The value of each hexadecimal digit by its character code, -1 for other characters. */
const hexValues = new Int8Array(128).fill(-1);
for (let value = 0; value < 16; value++) {
  const digit = value.toString(16);
  hexValues[digit.charCodeAt(0)] = hexValues[digit.toUpperCase().charCodeAt(0)] = value;
}

/** Strict: no short forms, no leading zeros in IPv4. The zone of an IPv6 address (`%eth0`) is dropped. */
export function parseIp(text: string): IpAddress | undefined {
  const ipv4 = readIpv4(text, 0);
  return ipv4 >= 0 ? ipFromIpv4Word(ipv4) : parseIpv6(text);
}

export function ipFromIpv4Word(word: number): IpAddress {
  return { family: 4, word0: word | 0, word1: 0, word2: 0, word3: 0 };
}

/** Unmaps an IPv4-mapped address. */
export function ipFromIpv6Words(word0: number, word1: number, word2: number, word3: number): IpAddress {
  if (word2 === 0xffff && word1 === 0 && word0 === 0) return ipFromIpv4Word(word3);
  return { family: 6, word0: word0 | 0, word1: word1 | 0, word2: word2 | 0, word3: word3 | 0 };
}

/** The canonical text of RFC 5952. */
export function formatIp({ family, word0, word1, word2, word3 }: IpAddress): string {
  if (family === 4) return `${word0 >>> 24}.${(word0 >>> 16) & 255}.${(word0 >>> 8) & 255}.${word0 & 255}`;
  const groups = [
    word0 >>> 16,
    word0 & 0xffff,
    word1 >>> 16,
    word1 & 0xffff,
    word2 >>> 16,
    word2 & 0xffff,
    word3 >>> 16,
    word3 & 0xffff,
  ];
  const { start, length } = longestZeroRun(groups);
  if (length < 2) return joinGroups(groups, 0, 8);
  return `${joinGroups(groups, 0, start)}::${joinGroups(groups, start + length, 8)}`;
}

/** The IPv4 address from `from` to the end as an unsigned number, or -1. */
function readIpv4(text: string, from: number): number {
  const end = text.length;
  let value = 0;
  let at = from;
  for (let octets = 0; octets < 4; octets++) {
    if (octets > 0 && (at >= end || text.charCodeAt(at++) !== codeDot)) return -1;
    const start = at;
    let octet = 0;
    for (; at < end && octet <= 255; at++) {
      const digit = text.charCodeAt(at) - code0;
      if (digit < 0 || digit > 9) break;
      octet = octet * 10 + digit;
    }
    if (at === start || octet > 255) return -1;
    if (at > start + 1 && text.charCodeAt(start) === code0) return -1;
    value = value * 256 + octet;
  }
  return at === end ? value : -1;
}

function parseIpv6(text: string): IpAddress | undefined {
  const groups = readGroups(text) ?? readGroups(withoutZone(text));
  if (groups === undefined) return undefined;
  const wordAt = (at: number): number => (groups[at]! << 16) | groups[at + 1]!;
  return ipFromIpv6Words(wordAt(0), wordAt(2), wordAt(4), wordAt(6));
}

/** The text without what follows `%`, if that can be a zone; else something that is no address. */
function withoutZone(text: string): string {
  const percent = text.indexOf('%');
  return percent >= 0 && /^[!-~]+$/.test(text.slice(percent + 1)) ? text.slice(0, percent) : '';
}

/** The eight groups of IPv6 text; undefined if it is none. */
function readGroups(text: string): readonly number[] | undefined {
  const end = text.length;
  const groups = [0, 0, 0, 0, 0, 0, 0, 0];
  let count = 0;
  let gap = -1;
  let at = 0;
  if (text.startsWith('::')) {
    gap = 0;
    at = 2;
  }
  while (at < end) {
    if (count === 8) return undefined;
    const start = at;
    let value = 0;
    let code = 0;
    for (; at < end; at++) {
      code = text.charCodeAt(at);
      const digit = hexDigit(code);
      if (digit < 0) break;
      value = (value << 4) | digit;
    }
    if (at === start || at - start > 4) return undefined;
    if (at < end && code === codeDot) {
      const ipv4 = readIpv4(text, start);
      if (ipv4 < 0 || count > 6) return undefined;
      groups[count++] = ipv4 >>> 16;
      groups[count++] = ipv4 & 0xffff;
      break;
    }
    groups[count++] = value;
    if (at === end) break;
    if (code !== codeColon || ++at === end) return undefined;
    if (text.charCodeAt(at) === codeColon) {
      if (gap >= 0) return undefined;
      gap = count;
      at++;
    }
  }
  if (gap < 0) return count === 8 ? groups : undefined;
  if (count === 8) return undefined;
  // The groups after `::` move to the end.
  for (let from = count, to = 8; from > gap;) {
    groups[--to] = groups[--from]!;
    groups[from] = 0;
  }
  return groups;
}

function hexDigit(code: number): number {
  return code < 128 ? hexValues[code]! : -1;
}

/** The first of the longest runs of zeros. */
function longestZeroRun(groups: readonly number[]): { readonly start: number; readonly length: number } {
  let start = 0;
  let longest = 0;
  let length = 0;
  for (let at = 0; at < 8; at++) {
    length = groups[at] === 0 ? length + 1 : 0;
    if (length <= longest) continue;
    longest = length;
    start = at - length + 1;
  }
  return { start, length: longest };
}

function joinGroups(groups: readonly number[], from: number, end: number): string {
  let text = '';
  for (let at = from; at < end; at++) text += (at === from ? '' : ':') + groups[at]!.toString(16);
  return text;
}
