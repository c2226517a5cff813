import type { Comparison, Node } from '../../lib/cel/tree.ts';
import { ExpressionFault } from '../../lib/cel/syntax-fault.ts';
import { parseDuration, parseTime, toInstant } from '../../lib/cel/times.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import type { Condition, Field, Operator } from '../../store/search/condition.ts';
import { invalidTime } from '../errors.ts';

const shifts: Readonly<Record<string, number>> = { add: 1, subtract: -1 };

/** Whether it is a time that does not depend on a field. */
export function isTime(node: Node): boolean {
  if (isNow(node)) return true;
  if (node.kind !== 'call') return false;
  if (node.of !== undefined) return Object.hasOwn(shifts, node.name) && isTime(node.of);
  const [of] = node.items;
  return node.name === 'timestamp' && of !== undefined && (of.kind === 'literal' || isNow(of));
}

/** Stored times have whole seconds: one that is before 10:00:00.5 is not after 10:00:00. */
export function compareTime(field: Field, operator: Comparison, sql: Operator, value: Node): Condition {
  const instant = toInstant(timeOf(value));
  if (instant === undefined) throw new ExpressionFault(value.at, 'the time is not between the years 0 and 9999');
  const { text: to, hasFraction } = instant;
  if (!hasFraction) return { kind: 'compare', field, operator: sql, to };
  if (operator === '==') return { kind: 'constant', value: false };
  if (operator === '!=') return { kind: 'constant', value: true };
  return { kind: 'compare', field, operator: operator.startsWith('<') ? '<=' : '>', to };
}

function timeOf(node: Node): number {
  if (isNow(node)) return Date.now();
  if (node.kind === 'literal') return written(node);
  if (node.kind !== 'call') throw new ExpressionFault(node.at, 'a time is expected here');
  const [of, ...others] = node.items;
  if (of === undefined || others.length > 0) throw new ExpressionFault(node.at, `${node.name}() takes one value`);
  if (node.of === undefined) return isNow(of) ? Date.now() : written(of);
  const duration = of.kind === 'literal' && typeof of.value === 'string' ? parseDuration(of.value) : undefined;
  if (duration === undefined) {
    throw new ExpressionFault(
      of.at,
      `${node.name}() takes a duration in days, hours, minutes or seconds, such as "7d"`,
    );
  }
  return timeOf(node.of) + (shifts[node.name] ?? 0) * duration;
}

function written(node: Node): number {
  const value = node.kind === 'literal' ? node.value : undefined;
  const ms = typeof value === 'string' ? parseTime(value) : undefined;
  if (ms === undefined) throw new UserError(invalidTime, { value: quote(value) });
  return ms;
}

function isNow(node: Node): boolean {
  return node.kind === 'member' && node.name === 'now' && node.of.kind === 'name' && node.of.name === 'time';
}
