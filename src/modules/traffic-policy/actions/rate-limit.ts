import { hash } from 'node:crypto';

import { bool, string } from '../../../lib/cel/types.ts';
import { CelMap } from '../../../lib/cel/values.ts';
import { durationOutOfRange, invalidValue, numberOutOfRange } from '../errors.ts';
import { UserError } from '../../../errors/user-error.ts';
import { textOf } from '../document/template.ts';
import type { Action } from './action.ts';

const longestName = 1024;
const mostKeys = 10;
const [shortestMs, longestMs, stepMs] = [60_000, 86_400_000, 10_000];

/** Refuses whoever makes too many requests: each combination of the values of its keys is counted apart. */
export const rateLimit: Action = {
  type: 'rate-limit',
  phases: ['on_http_request'],
  guards: true,
  result: { name: 'rate_limit', fields: { bucket_key: string, limited: bool } },
  build(config) {
    const name = config.required('name', config.text('name'));
    if (name.length >= longestName)
      throw new UserError(numberOutOfRange, {
        path: `${config.at('name')} (its length)`,
        least: 1,
        most: longestName - 1,
        value: name.length,
      });
    config.required('algorithm', config.oneOf('algorithm', ['sliding_window']));
    const limit = config.required('capacity', config.integer('capacity', 1, 2_000_000_000));
    const windowMs = config.required('rate', config.duration('rate', shortestMs, longestMs));
    if (windowMs % stepMs !== 0)
      throw new UserError(durationOutOfRange, {
        path: config.at('rate'),
        least: '60s',
        most: '24h, in steps of 10s',
        value: `${windowMs / 1000}s`,
      });
    const keys = config.required('bucket_key', config.expressions('bucket_key', mostKeys));
    if (keys.length === 0)
      throw config.fault(invalidValue, 'bucket_key', 'it names nothing to count by; give at least one expression');
    const enforced = config.boolean('enforce') ?? true;
    // Limits that have a name in common are counted apart, so that none takes the place of another.
    const told = JSON.stringify([name, limit, windowMs, config.raw('bucket_key')]);
    const id = hash('sha256', told, 'base64url').slice(0, 22);
    return {
      ends: false,
      guards: enforced,
      run(visit) {
        const key = JSON.stringify(keys.map((make) => textOf(make(visit.frame), visit)));
        // A visit that is begun anew has been counted.
        if (visit.done.has(id)) return undefined;
        visit.done.add(id);
        let limited = false;
        const exceeded = (): void => void (limited = true);
        const rule = { scope: 'own', limit, windowMs, by: 'key', key, header: id, enforced, exceeded } as const;
        const refusal = visit.engine.services.rates.take(visit.engine, rule);
        visit.setResult('rate_limit', () => CelMap.of({ bucket_key: key, limited: limited || refusal !== undefined }));
        return refusal;
      },
    };
  },
};
