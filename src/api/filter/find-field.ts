import type { Node } from '../../lib/cel/tree.ts';
import { ExpressionFault } from '../../lib/cel/syntax-fault.ts';
import { nearestName } from '../../lib/nearest-name.ts';
import type { Field } from '../../store/search/condition.ts';
import type { FilterFields } from './fields.ts';

/** Lets texts be compared without regard to case, as in the strings extension of CEL. */
export const lowerFunction = 'lowerAscii';

/** The field that an expression such as `obj.certificate.id` names. */
export function findField(node: Node, fields: FilterFields): Field {
  if (node.kind === 'call' && node.of !== undefined && node.name === lowerFunction) return lowered(node, fields);
  // A time may be written as one, though the field is one already.
  const [inner] = node.kind === 'call' && node.of === undefined && node.name === 'timestamp' ? node.items : [];
  const [root, ...names] = namesOf(inner ?? node);
  if (root !== 'obj' || names.length === 0) {
    const meant = root !== undefined && Object.hasOwn(fields, root) ? ` (did you mean obj.${root}?)` : '';
    throw new ExpressionFault(node.at, `a field is expected here, written as obj.name${meant}`);
  }
  const name = names.join('.');
  const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (field !== undefined) return field;
  const map = names.slice(0, -1).join('.');
  const ofMap = Object.hasOwn(fields, map) ? fields[map] : undefined;
  if (ofMap?.kind === 'map' && 'path' in ofMap) return { kind: 'text', path: ofMap.path, key: names.at(-1) ?? '' };
  const known = Object.keys(fields);
  const nearest = nearestName(name, known);
  const meant = nearest === undefined ? '' : ` (did you mean obj.${nearest}?)`;
  throw new ExpressionFault(
    node.at,
    `there is no field obj.${name} to filter by${meant}; there are ${known.join(', ')}`,
  );
}

/** The field of an expression such as `obj.description.lowerAscii()`. */
function lowered({ of, items, at }: Extract<Node, { readonly kind: 'call' }>, fields: FilterFields): Field {
  if (of === undefined || items.length > 0) throw new ExpressionFault(at, `${lowerFunction}() takes nothing`);
  const field = findField(of, fields);
  if (field.kind === 'text') return { ...field, isLowered: true };
  throw new ExpressionFault(of.at, `${lowerFunction}() is for texts, and this is a ${field.kind}`);
}

function namesOf(node: Node): readonly string[] {
  if (node.kind === 'name') return [node.name];
  return node.kind === 'member' ? [...namesOf(node.of), node.name] : [];
}
