import { BoundedCache } from '../../bounded-cache.ts';
import { parseIp } from '../../ip/address.ts';
import { networkOf } from '../../ip/cidr.ts';
import { PatternFault, Regex } from '../../regex/regex.ts';
import type { Work } from '../environment.ts';
import { bool, listOf, string } from '../types.ts';
import type { Value } from '../values.ts';
import { both, method, plainFunction } from './define.ts';
import type { Definition } from './define.ts';

/** Patterns that come of requests, by their texts. */
const compiled = new BoundedCache<string, Regex>(200);
/** What it costs to compile a character of a pattern. */
const patternUnits = 4;

/** Compiles a pattern that is not written out. */
function regexOf(source: string, work: Work<unknown>): Regex {
  const known = compiled.get(source);
  if (known !== undefined) return known;
  work.budget.spend(60 + source.length * patternUnits);
  try {
    const made = new Regex(source);
    compiled.set(source, made);
    return made;
  } catch (error) {
    if (error instanceof PatternFault) throw work.fault(`the regular expression is not offered: ${error.message}`);
    throw error;
  }
}

function checkPattern([, pattern]: readonly (Value | undefined)[]): string | undefined {
  if (typeof pattern !== 'string') return undefined;
  try {
    void new Regex(pattern);
    return undefined;
  } catch (error) {
    if (error instanceof PatternFault) return error.message;
    throw error;
  }
}

function prepareMatch([, pattern]: readonly (Value | undefined)[]) {
  if (typeof pattern !== 'string') return undefined;
  const regex = new Regex(pattern);
  return ([text]: readonly Value[], work: Work<unknown>): Value =>
    typeof text === 'string' && regex.test(text, work.budget.spend);
}

/** Longest text that can be an address. */
const longestAddress = 64;

function isInCidr(address: string, cidr: string): boolean {
  if (address.length > longestAddress) return false;
  const ip = parseIp(address);
  const [, network = '', bits = ''] = /^([^/]{1,50})\/(\d{1,3})$/.exec(cidr) ?? [];
  const base = parseIp(network);
  if (ip === undefined || base === undefined || ip.family !== base.family) return false;
  const prefix = Number(bits);
  if (prefix > (ip.family === 4 ? 32 : 128)) return false;
  const [one, other] = [networkOf(ip, prefix), networkOf(base, prefix)];
  return (
    one.word0 === other.word0 && one.word1 === other.word1 && one.word2 === other.word2 && one.word3 === other.word3
  );
}

const privateRanges = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16'];

export const matchingFunctions: readonly Definition[] = [
  ...both(
    'matches',
    'matches',
    [string, string],
    bool,
    ([text, pattern], work) => regexOf(pattern, work).test(text, work.budget.spend),
    {
      check: checkPattern,
      prepare: prepareMatch,
    },
  ),
  plainFunction(
    'inCidrRange',
    [string, string],
    bool,
    ([address, cidr], work) => {
      work.budget.spend(10);
      return isInCidr(address, cidr);
    },
    { isTotal: true },
  ),
  plainFunction(
    'inCidrRanges',
    [string, listOf(string)],
    bool,
    ([address, cidrs], work) => {
      work.budget.spend(10 * cidrs.length);
      return cidrs.some((cidr) => typeof cidr === 'string' && isInCidr(address, cidr));
    },
    { isTotal: true },
  ),
  method(
    'isPrivateIp',
    [string],
    bool,
    ([address], work) => {
      work.budget.spend(20);
      return privateRanges.some((cidr) => isInCidr(address, cidr));
    },
    { isTotal: true },
  ),
];
