/**
 * 32 bits a word, most significant first; IPv4 has the first word only, and the others are 0. Signed, because such
 * numbers are part of the object itself, which is made for every connection. An IPv4-mapped IPv6 address is always held
 * as family 4, so that both spellings of one host compare alike.
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

/**
 * Scratch of reading and writing IPv6, which never yield: a fresh array for each address would double the cost. Indexes
 * into it are in range by construction, hence the `!`.
 */
const groups = new Uint16Array(8);

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
  setWord(0, word0);
  setWord(2, word1);
  setWord(4, word2);
  setWord(6, word3);
  const { start, length } = longestZeroRun();
  if (length < 2) return joinGroups(0, 8);
  return `${joinGroups(0, start)}::${joinGroups(start + length, 8)}`;
}

/** The IPv4 address from there to the end as an unsigned number, or -1. */
function readIpv4(text: string, from: number): number {
  const end = text.length;
  let value = 0;
  let at = from;
  for (let octets = 0; octets < 4; octets++) {
    if (octets > 0 && (at >= end || text.charCodeAt(at++) !== codeDot)) return -1;
    let octet = digitAt(text, at++, end);
    if (octet < 0) return -1;
    // Unrolled: a loop costs a quarter more here.
    let digit = octet === 0 ? -1 : digitAt(text, at, end);
    if (digit >= 0) {
      octet = octet * 10 + digit;
      digit = digitAt(text, ++at, end);
      if (digit >= 0) {
        octet = octet * 10 + digit;
        at++;
      }
    }
    if (octet > 255) return -1;
    value = value * 256 + octet;
  }
  return at === end ? value : -1;
}

function digitAt(text: string, at: number, end: number): number {
  const digit = at < end ? text.charCodeAt(at) - code0 : -1;
  return digit <= 9 ? digit : -1;
}

function parseIpv6(text: string): IpAddress | undefined {
  if (!readGroups(text) && !readGroups(withoutZone(text))) return undefined;
  return ipFromIpv6Words(wordAt(0), wordAt(2), wordAt(4), wordAt(6));
}

/** Without what follows `%`, if that can be a zone; else something that is no address. */
function withoutZone(text: string): string {
  const percent = text.indexOf('%');
  return percent >= 0 && /^[!-~]+$/.test(text.slice(percent + 1)) ? text.slice(0, percent) : '';
}

/** Fills `groups` from IPv6 text; false if it is none. */
function readGroups(text: string): boolean {
  const end = text.length;
  if (end < 2) return false;
  let count = 0;
  let gap = -1;
  let at = 0;
  if (text.charCodeAt(0) === codeColon) {
    if (text.charCodeAt(1) !== codeColon) return false;
    gap = 0;
    at = 2;
  }
  while (at < end) {
    if (count === 8) return false;
    const start = at;
    let value = 0;
    let code = 0;
    for (; at < end; at++) {
      code = text.charCodeAt(at);
      const digit = hexDigit(code);
      if (digit < 0) break;
      value = (value << 4) | digit;
    }
    if (at === start || at - start > 4) return false;
    if (at < end && code === codeDot) {
      const ipv4 = readIpv4(text, start);
      if (ipv4 < 0) return false;
      groups[count++] = ipv4 >>> 16;
      groups[count++] = ipv4;
      break;
    }
    groups[count++] = value;
    if (at === end) break;
    if (code !== codeColon || ++at === end) return false;
    if (text.charCodeAt(at) === codeColon) {
      if (gap >= 0) return false;
      gap = count;
      at++;
    }
  }
  return gap < 0 ? count === 8 : spread(gap, count);
}

/** Moves the groups after `::` to the end and zeroes the ones it stands for. */
function spread(gap: number, count: number): boolean {
  if (count > 7) return false;
  let to = 8;
  for (let from = count; from > gap;) groups[--to] = groups[--from]!;
  while (to > gap) groups[--to] = 0;
  return true;
}

function wordAt(group: number): number {
  return (groups[group]! << 16) | groups[group + 1]!;
}

function hexDigit(code: number): number {
  return code < 128 ? hexValues[code]! : -1;
}

function setWord(group: number, word: number): void {
  groups[group] = word >>> 16;
  groups[group + 1] = word;
}

/** The first of the longest runs in `groups`. */
function longestZeroRun(): { readonly start: number; readonly length: number } {
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

function joinGroups(from: number, end: number): string {
  let text = '';
  for (let at = from; at < end; at++) text += (at === from ? '' : ':') + groups[at]!.toString(16);
  return text;
}
