import { UserError } from '../../../errors/user-error.ts';
import type { ConfigReader } from '../document/config-reader.ts';
import { addReads, newReads, readsPathVar } from '../document/reads.ts';
import { invalidVars } from '../errors.ts';
import type { Action } from './action.ts';
import { valueMaker } from './value-maker.ts';
import type { MakeValue } from './value-maker.ts';

const mostVars = 100;

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
  const reads = newReads(entry.context.reads);
  const make = valueMaker(entry.raw(name) ?? null, entry.at(name), { ...entry.context, reads });
  addReads(entry.context.reads, reads);
  if (reads.path || readsPathVar(reads)) reads.pathVars.add(name);
  return [name, make];
}
