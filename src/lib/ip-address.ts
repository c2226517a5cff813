/**
 * One word for IPv4, four for IPv6: unsigned 32-bit, most significant first. An IPv4-mapped IPv6 address is always held
 * as family 4, so that both spellings of one host compare alike.
 */
export interface IpAddress {
  readonly family: 4 | 6;
  readonly words: readonly number[];
}

const code0 = 48;
const codeDot = 46;
const codeColon = 58;

/** Scratch of `readGroups`, which never yields: a fresh array for each address would double its cost. */
const groups = new Uint16Array(8);

/** Strict: no short forms, no leading zeros in IPv4. The zone of an IPv6 address (`%eth0`) is dropped. */
export function parseIp(text: string): IpAddress | undefined {
  const ipv4 = readIpv4(text, 0, text.length);
  if (ipv4 >= 0) return { family: 4, words: [ipv4] };
  const end = endBeforeZone(text);
  if (end < 2 || !readGroups(text, end)) return undefined;
  return ipFromIpv6Words(wordAt(0), wordAt(2), wordAt(4), wordAt(6));
}

/** Unmaps an IPv4-mapped address. */
export function ipFromIpv6Words(word0: number, word1: number, word2: number, word3: number): IpAddress {
  if (word2 === 0xffff && word1 === 0 && word0 === 0) return { family: 4, words: [word3] };
  return { family: 6, words: [word0, word1, word2, word3] };
}

/** The canonical text of RFC 5952. */
export function formatIp(ip: IpAddress): string {
  if (ip.family === 4) {
    const word = ip.words[0] ?? 0;
    return `${word >>> 24}.${(word >>> 16) & 255}.${(word >>> 8) & 255}.${word & 255}`;
  }
  const parts = ip.words.flatMap((word) => [word >>> 16, word & 0xffff]);
  const { start, length } = longestZeroRun(parts);
  if (length < 2) return joinHex(parts);
  return `${joinHex(parts.slice(0, start))}::${joinHex(parts.slice(start + length))}`;
}

/** The address as a number, or -1. */
function readIpv4(text: string, from: number, end: number): number {
  let value = 0;
  let octet = -1;
  let dots = 0;
  for (let at = from; at < end; at++) {
    const code = text.charCodeAt(at);
    if (code === codeDot && octet >= 0 && dots < 3) {
      value = value * 256 + octet;
      octet = -1;
      dots++;
      continue;
    }
    const digit = code - code0;
    if (digit < 0 || digit > 9 || octet === 0) return -1;
    octet = octet < 0 ? digit : octet * 10 + digit;
    if (octet > 255) return -1;
  }
  return dots === 3 && octet >= 0 ? value * 256 + octet : -1;
}

/** Where the address proper ends, or -1 if what follows `%` is no zone. */
function endBeforeZone(text: string): number {
  const percent = text.indexOf('%');
  if (percent < 0) return text.length;
  return /^[!-~]+$/.test(text.slice(percent + 1)) ? percent : -1;
}

/** Fills `groups` from IPv6 text; false if it is none. */
function readGroups(text: string, end: number): boolean {
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
    let digit = 0;
    while (at < end && (digit = hexDigit(text.charCodeAt(at))) >= 0) {
      value = (value << 4) | digit;
      at++;
    }
    if (at === start || at - start > 4) return false;
    if (at < end && text.charCodeAt(at) === codeDot) {
      const ipv4 = readIpv4(text, start, end);
      if (ipv4 < 0) return false;
      groups[count++] = ipv4 >>> 16;
      groups[count++] = ipv4;
      break;
    }
    groups[count++] = value;
    if (at === end) break;
    if (text.charCodeAt(at++) !== codeColon || at === end) return false;
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
  for (let from = count; from > gap;) groups[--to] = groups[--from] ?? 0;
  while (to > gap) groups[--to] = 0;
  return true;
}

function wordAt(group: number): number {
  return (((groups[group] ?? 0) << 16) | (groups[group + 1] ?? 0)) >>> 0;
}

function hexDigit(code: number): number {
  if (code >= code0 && code <= code0 + 9) return code - code0;
  const letter = (code | 32) - 97;
  return letter >= 0 && letter <= 5 ? letter + 10 : -1;
}

/** The first of the longest runs. */
function longestZeroRun(parts: readonly number[]): { start: number; length: number } {
  let best = { start: 0, length: 0 };
  let length = 0;
  for (const [at, part] of parts.entries()) {
    length = part === 0 ? length + 1 : 0;
    if (length > best.length) best = { start: at - length + 1, length };
  }
  return best;
}

function joinHex(parts: readonly number[]): string {
  return parts.map((part) => part.toString(16)).join(':');
}
