import { UserError } from '../../../errors/user-error.ts';
import { CelMap } from '../../../lib/cel/values.ts';
import type { Value } from '../../../lib/cel/values.ts';
import type { BuildContext } from '../document/build-context.ts';
import type { ConfigReader } from '../document/config-reader.ts';
import { readTemplate } from '../document/template.ts';
import { invalidVars, varsTooDeep } from '../errors.ts';
import type { PolicyVisit } from '../run/policy-visit.ts';
import type { Action } from './action.ts';

const mostVars = 100;
const mostLevels = 16;

type MakeValue = (visit: PolicyVisit) => Value;

/** Sets variables for later expressions of the phase, in order: later ones see earlier ones. */
export const setVars: Action = {
  type: 'set-vars',
  phases: ['on_tcp_connect', 'on_http_request', 'on_http_response'],
  guards: false,
  build(config) {
    const entries = config.required('vars', config.objects('vars', mostVars)).map(readEntry);
    return {
      ends: false,
      run(visit) {
        for (const [name, make] of entries) visit.vars.set(name, make(visit));
        return undefined;
      },
    };
  },
};

function readEntry(entry: ConfigReader): readonly [name: string, make: MakeValue] {
  const [name, ...more] = entry.names;
  if (name === undefined || more.length > 0)
    throw new UserError(invalidVars, {
      path: entry.path,
      reason: 'each entry of the list is a map with exactly one key',
    });
  if (!/^[A-Za-z_]\w{0,127}$/.test(name)) {
    const reason = 'a name is made of letters, digits and "_", and does not begin with a digit';
    throw new UserError(invalidVars, { path: entry.at(name), reason });
  }
  return [name, valueOf(entry.raw(name) ?? null, entry.at(name), entry.context, 0)];
}

/** A value of JSON, in whose texts expressions are filled in. */
function valueOf(given: unknown, path: string, context: BuildContext, level: number): MakeValue {
  if (level > mostLevels) throw new UserError(varsTooDeep, { path, limit: mostLevels });
  if (typeof given === 'string') return readTemplate(given, path, context).value;
  if (Array.isArray(given)) {
    const items = given.map((item, at) => valueOf(item, `${path}[${at}]`, context, level + 1));
    return (visit) => {
      visit.spend(items.length);
      return items.map((make) => make(visit));
    };
  }
  if (typeof given === 'object' && given !== null) {
    const entries = Object.entries(given).map(
      ([key, each]) => [key, valueOf(each, `${path}.${key}`, context, level + 1)] as const,
    );
    return (visit) => {
      visit.spend(8 + entries.length * 2);
      return new CelMap(entries.map(([key, make]) => [key, make(visit)] as const));
    };
  }
  const constant = typeof given === 'number' && Number.isInteger(given) ? BigInt(given) : given;
  // Only these are left of what JSON and YAML have.
  const plain = constant as number | bigint | boolean | null;
  return () => plain;
}
