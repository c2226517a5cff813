import { UserError } from '../../../errors/user-error.ts';
import { CelMap } from '../../../lib/cel/values.ts';
import type { Value } from '../../../lib/cel/values.ts';
import type { BuildContext } from '../document/build-context.ts';
import { bytesOf } from '../document/reads.ts';
import { readTemplate } from '../document/template.ts';
import { varsTooDeep } from '../errors.ts';
import type { PolicyVisit } from '../run/policy-visit.ts';

const mostLevels = 16;

/** Makes a value for a visit. */
export type MakeValue = (visit: PolicyVisit) => Value;

/** A value of JSON, in whose texts expressions are filled in. */
export function valueMaker(given: unknown, path: string, context: BuildContext, level = 0): MakeValue {
  if (level > mostLevels) throw new UserError(varsTooDeep, { path, limit: mostLevels });
  context.reads.memory.bytes += bytesOf.node;
  if (typeof given === 'string') return readTemplate(given, path, context).value;
  if (Array.isArray(given))
    return listMaker(given.map((item, at) => valueMaker(item, `${path}[${at}]`, context, level + 1)));
  if (typeof given === 'object' && given !== null)
    return mapMaker(
      Object.entries(given).map(([key, each]) => {
        context.reads.memory.bytes += bytesOf.item + key.length * 2;
        return [key, valueMaker(each, `${path}.${key}`, context, level + 1)] as const;
      }),
    );
  const constant = typeof given === 'number' && Number.isInteger(given) ? BigInt(given) : given;
  // Only these are left of what JSON and YAML have.
  return constantMaker(constant as number | bigint | boolean | null);
}

// What a closure can see, it keeps: these see what they need, and not the document.
function constantMaker(value: Value): MakeValue {
  return () => value;
}

function listMaker(items: readonly MakeValue[]): MakeValue {
  return (visit) => {
    visit.spend(items.length);
    return items.map((make) => make(visit));
  };
}

function mapMaker(entries: readonly (readonly [key: string, make: MakeValue])[]): MakeValue {
  return (visit) => {
    visit.spend(8 + entries.length * 2);
    return new CelMap(entries.map(([key, make]) => [key, make(visit)] as const));
  };
}
