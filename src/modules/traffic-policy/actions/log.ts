import { any } from '../../../lib/cel/types.ts';
import { CelMap } from '../../../lib/cel/values.ts';
import { toJson } from '../../../lib/cel/functions/lists.ts';
import { EvaluationFault } from '../../../lib/cel/run.ts';
import { wrongType } from '../document/config-reader.ts';
import type { Action } from './action.ts';
import { valueMaker } from './value-maker.ts';

const longestNote = 16_384;
/** Work of one line beside its characters. */
const unitsOfNote = 500;

/** Writes a line of the log. */
export const log: Action = {
  type: 'log',
  phases: ['on_tcp_connect', 'on_http_request', 'on_http_response'],
  guards: false,
  result: { name: 'log', fields: { metadata: any } },
  build(config) {
    const given = config.required('metadata', config.raw('metadata'));
    if (typeof given !== 'object' || Array.isArray(given)) throw wrongType(config.at('metadata'), 'a map', given);
    const make = valueMaker(given, config.at('metadata'), config.context);
    return {
      ends: false,
      run(visit) {
        const metadata = make(visit);
        const fields = toJson(metadata, visit.frame);
        const { length } = JSON.stringify(fields);
        // A visit must not fill the disk with what it costs to write a little.
        visit.spend(unitsOfNote + length);
        if (length > longestNote) throw new EvaluationFault(`a line of the log has at most ${longestNote} characters`);
        const operationId = visit.phase === 'on_tcp_connect' ? undefined : visit.request.operationId();
        // The metadata was checked to be a map.
        if (!visit.isOpen) visit.engine.services.notes.add(visit.engine, operationId, fields as object);
        visit.setResult('log', () => CelMap.of({ metadata }));
        return undefined;
      },
    };
  },
};
