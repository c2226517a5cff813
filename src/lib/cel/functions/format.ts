import type { Work } from '../environment.ts';
import { checkText } from '../operators.ts';
import { typeOf } from '../types.ts';
import { asList, CelMap, Duration, Timestamp, TypeName, Uint } from '../values.ts';
import type { Value } from '../values.ts';
import { formatDuration, formatTimestamp, unitsOfTime } from './time-text.ts';

/** Most digits behind the point. */
const mostDigits = 100;
const clause = /%(?:\.(\d{1,3}))?([\s\S]?)/g;

/** Fills values into a text, as `printf` does. */
export function formatText(text: string, values: readonly Value[], work: Work<unknown>): string {
  let at = 0;
  let length = text.length;
  // All places are found before the first is filled in.
  work.budget.spend(length);
  checkText(length, work);
  return text.replaceAll(clause, (_, digits: string | undefined, verb: string) => {
    work.budget.spend(12);
    if (verb === '%' && digits === undefined) return '%';
    const value = values[at];
    if (value === undefined)
      throw work.fault(`there are ${values.length} values for a text that asks for more (index out of range)`);
    at += 1;
    const shown = show(verb, digits === undefined ? undefined : Number(digits), value, work);
    length += shown.length;
    checkText(length, work);
    return shown;
  });
}

function show(verb: string, digits: number | undefined, value: Value, work: Work<unknown>): string {
  if (digits !== undefined && digits > mostDigits) throw work.fault(`more than ${mostDigits} digits are asked for`);
  switch (verb) {
    case 's':
      return showValue(value, work);
    case 'd':
      return showDecimal(value, work);
    case 'f':
      return showNumber(toNumber(value, verb, work), (number) => fixed(number, digits ?? 6));
    case 'e':
      return showNumber(toNumber(value, verb, work), (number) =>
        number.toExponential(digits ?? 6).replace(/e([+-])(\d)$/, 'e$10$2'),
      );
    case 'b':
      if (typeof value === 'boolean') return value ? '1' : '0';
      return toInteger(value, verb, work).toString(2);
    case 'o':
      return toInteger(value, verb, work).toString(8);
    case 'x':
      return showHex(value, verb, work);
    case 'X':
      return showHex(value, verb, work).toUpperCase();
    default:
      throw work.fault(`"%${verb}" is not known; there are %s, %d, %f, %e, %b, %o, %x, %X and %%`);
  }
}

/** Rounds halves to the even digit, as Go does. */
function fixed(number: number, digits: number): string {
  const scaled = number * 10 ** digits;
  const isHalf = Math.abs(scaled % 1) === 0.5 && scaled / 10 ** digits === number;
  return (isHalf ? (2 * Math.round(scaled / 2)) / 10 ** digits : number).toFixed(digits);
}

function showNumber(number: number, format: (number: number) => string): string {
  if (Number.isNaN(number)) return 'NaN';
  if (Number.isFinite(number)) return format(number);
  return number > 0 ? 'Infinity' : '-Infinity';
}

function showDecimal(value: Value, work: Work<unknown>): string {
  if (typeof value === 'number') return showNumber(value, String);
  return toInteger(value, 'd', work).toString();
}

function showHex(value: Value, verb: string, work: Work<unknown>): string {
  if (typeof value === 'string' || value instanceof Uint8Array) {
    checkText(value.length * 2, work);
    return Buffer.from(value).toString('hex');
  }
  return toInteger(value, verb, work).toString(16);
}

function toInteger(value: Value, verb: string, work: Work<unknown>): bigint {
  if (typeof value === 'bigint') return value;
  if (value instanceof Uint) return value.value;
  throw work.fault(`"%${verb}" does not take a ${typeOf(value)}`);
}

function toNumber(value: Value, verb: string, work: Work<unknown>): number {
  if (typeof value === 'number') return value;
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Uint) return Number(value.value);
  throw work.fault(`"%${verb}" does not take a ${typeOf(value)}`);
}

function showValue(value: Value, work: Work<unknown>): string {
  work.budget.spend(1);
  if (typeof value === 'string') {
    work.budget.spend(value.length / 64);
    return value;
  }
  if (value === null) return 'null';
  if (typeof value === 'number') return showNumber(value, String);
  if (value instanceof Uint) return String(value.value);
  if (value instanceof Uint8Array) {
    work.budget.spend(value.length / 8);
    return Buffer.from(value).toString();
  }
  if (value instanceof Timestamp || value instanceof Duration) {
    work.budget.spend(unitsOfTime);
    return value instanceof Timestamp ? formatTimestamp(value) : formatDuration(value);
  }
  if (value instanceof TypeName) return value.name;
  if (value instanceof CelMap) {
    const entries = Array.from(value.entries(), ([key, each]) => `${showValue(key, work)}: ${showValue(each, work)}`);
    work.budget.spend(entries.length * Math.ceil(Math.log2(entries.length + 1)));
    return checked(`{${entries.toSorted().join(', ')}}`, work);
  }
  const items = asList(value);
  if (typeof value === 'bigint' || typeof value === 'boolean') return `${value}`;
  return items === undefined ? '' : checked(`[${items.map((each) => showValue(each, work)).join(', ')}]`, work);
}

function checked(text: string, work: Work<unknown>): string {
  checkText(text.length, work);
  return text;
}
