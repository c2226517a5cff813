import type { Compiler } from '../../publisher/compiler.ts';
import type { FixedAnswerEntry } from '../../snapshot/contract.ts';
import { httpResponseBackends } from './table.ts';
import type { HttpResponseBackend } from './table.ts';

export const fixedAnswerCompiler: Compiler = {
  kind: 'fixed_answer',
  affectedIds: ({ kind, id }) => (kind === httpResponseBackends.kind ? [id] : []),
  async load(queries, ids) {
    return (await httpResponseBackends.loadMany(queries, ids)).map(toEntry);
  },
};

function toEntry({ id, status_code, headers, body }: HttpResponseBackend): FixedAnswerEntry {
  return { kind: 'fixed_answer', id, status: status_code, headers: Object.entries(headers), body };
}
