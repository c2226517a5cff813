import type { Comparison, Node } from '../../lib/cel/tree.ts';
import { ExpressionFault } from '../../lib/cel/syntax-fault.ts';
import type { Condition, Field, Operator } from '../../store/search/condition.ts';
import { compareTime, isTime } from './compare-time.ts';
import type { FilterFields } from './fields.ts';
import { findField, lowerFunction } from './find-field.ts';

const operators: Readonly<Record<Comparison, Operator>> = {
  '==': '=',
  '!=': '<>',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
};
/** The operator with its sides swapped. */
const mirrored: Readonly<Record<Comparison, Comparison>> = {
  '==': '==',
  '!=': '!=',
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
};
const textFunctions: ReadonlySet<string> = new Set(['contains', 'startsWith', 'endsWith']);

/** Checks an expression against the fields of a list. Throws `ExpressionFault`. */
export function toCondition(node: Node, fields: FilterFields): Condition {
  switch (node.kind) {
    case 'all':
    case 'any':
      return { kind: node.kind, of: node.of.map((each) => toCondition(each, fields)) };
    case 'not':
      return { kind: 'not', of: toCondition(node.of, fields) };
    case 'compare':
      return compare(node, fields);
    case 'in':
      return isIn(node, fields);
    case 'call':
      return textFunction(node, fields);
    case 'literal':
      if (typeof node.value === 'boolean') return { kind: 'constant', value: node.value };
      break;
    case 'member': {
      const field = findField(node, fields);
      if (field.kind === 'boolean') return { kind: 'isTrue', field };
      break;
    }
    default:
  }
  throw new ExpressionFault(node.at, 'this is neither true nor false; compare it with a value');
}

function compare(node: Extract<Node, { readonly kind: 'compare' }>, fields: FilterFields): Condition {
  const { operator, left, right } = node;
  if (isValue(left)) {
    if (isValue(right)) throw new ExpressionFault(node.at, 'one side of a comparison is a field, such as obj.id');
    return compareField(right, mirrored[operator], left, fields);
  }
  return compareField(left, operator, right, fields);
}

function compareField(side: Node, operator: Comparison, value: Node, fields: FilterFields): Condition {
  if (!isValue(value)) throw new ExpressionFault(value.at, 'a field is compared with a value, not with another field');
  if (side.kind === 'call' && side.of === undefined && side.name === 'size') return size(side, operator, value, fields);
  const field = findField(side, fields);
  if (value.kind === 'literal' && value.value === null) return compareNull(field, operator, value);
  if (field.kind === 'time') return compareTime(field, operator, operators[operator], value);
  if (value.kind !== 'literal') throw new ExpressionFault(value.at, wanted(field));
  const { value: to, at } = value;
  if (field.kind === 'boolean' && typeof to === 'boolean') {
    if (operator !== '==' && operator !== '!=') throw new ExpressionFault(at, 'true and false have no order');
    const isTrue: Condition = { kind: 'isTrue', field };
    return to === (operator === '==') ? isTrue : { kind: 'not', of: isTrue };
  }
  if ((field.kind === 'text' && typeof to === 'string') || (field.kind === 'number' && typeof to === 'number')) {
    return { kind: 'compare', field, operator: operators[operator], to };
  }
  throw new ExpressionFault(at, wanted(field));
}

function compareNull(field: Field, operator: Comparison, { at }: Node): Condition {
  if (operator !== '==' && operator !== '!=') throw new ExpressionFault(at, 'null is neither before nor after a value');
  const isUnset: Condition = { kind: 'isUnset', field };
  return operator === '==' ? isUnset : { kind: 'not', of: isUnset };
}

function size(
  call: Extract<Node, { readonly kind: 'call' }>,
  operator: Comparison,
  value: Node,
  fields: FilterFields,
): Condition {
  const [of, ...others] = call.items;
  if (of === undefined || others.length > 0) throw new ExpressionFault(call.at, 'size() takes one field');
  const field = findField(of, fields);
  if (!['text', 'list', 'map'].includes(field.kind)) throw new ExpressionFault(of.at, `a ${field.kind} has no size`);
  if (value.kind !== 'literal' || typeof value.value !== 'number') {
    throw new ExpressionFault(value.at, 'a size is compared with a number');
  }
  return { kind: 'size', field, operator: operators[operator], to: value.value };
}

/** A field in a list of values, or a value in a field that is a list. */
function isIn(node: Extract<Node, { readonly kind: 'in' }>, fields: FilterFields): Condition {
  const { left, right } = node;
  if (right.kind === 'list') {
    const field = findField(left, fields);
    const any = right.items.map((item) => {
      if (!isValue(item)) throw new ExpressionFault(item.at, 'a list holds values, not fields');
      return compareField(left, '==', item, fields);
    });
    const values = any.flatMap((each) => (each.kind === 'compare' && each.field.kind === 'text' ? [each.to] : []));
    return values.length === any.length ? { kind: 'oneOf', field, values } : { kind: 'any', of: any };
  }
  const field = findField(right, fields);
  if (field.kind !== 'list' && field.kind !== 'map') {
    throw new ExpressionFault(right.at, '"in" is followed by a list, such as ["a", "b"], or by a field that is one');
  }
  if (left.kind !== 'literal' || typeof left.value !== 'string') {
    throw new ExpressionFault(left.at, 'only a text can be looked for in it');
  }
  return { kind: 'includes', field, text: left.value };
}

function textFunction(node: Extract<Node, { readonly kind: 'call' }>, fields: FilterFields): Condition {
  const { name, of, items, at } = node;
  if (of === undefined || !textFunctions.has(name)) {
    throw new ExpressionFault(at, `${name}() is not offered here; there are ${known.join(', ')}`);
  }
  const field = findField(of, fields);
  if (field.kind !== 'text') throw new ExpressionFault(of.at, `${name}() is for texts, and this is a ${field.kind}`);
  const [part, ...others] = items;
  if (part?.kind !== 'literal' || typeof part.value !== 'string' || others.length > 0) {
    throw new ExpressionFault(at, `${name}() takes one text`);
  }
  // The function is one of the set.
  return { kind: name as 'contains', field, text: part.value };
}

const known = ['size()', 'timestamp()', ...[...textFunctions, lowerFunction].map((name) => `.${name}()`)];

/** Values are what is written, and times that follow from it. */
function isValue(node: Node): boolean {
  return node.kind === 'literal' || isTime(node);
}

function wanted({ kind }: Field): string {
  const forms: Readonly<Record<Field['kind'], string>> = {
    text: 'the field is a text, and is compared with one, such as "shop"',
    time: 'the field is a time, and is compared with one, such as timestamp("2026-01-31T00:00:00Z")',
    boolean: 'the field is compared with true or false',
    number: 'the field is compared with a number',
    list: 'the field is a list: write "value" in it, or compare its size()',
    map: 'the field is a map: name one of its keys, write "key" in it, or compare its size()',
  };
  return forms[kind];
}
