import { EvaluationFault } from '../../../lib/cel/run.ts';
import { int, listOf, objectOf, string } from '../../../lib/cel/types.ts';
import { CelMap } from '../../../lib/cel/values.ts';
import { headerValues } from '../../../lib/header-list.ts';
import { headerChange } from '../run/changed-headers.ts';
import type { PolicyVisit } from '../run/policy-visit.ts';
import type { Action } from './action.ts';
import { headersOfBytes, longestBody, readReplacements } from './body-changes.ts';
import type { Replaced } from './body-changes.ts';

/** What was true of the body as it came. */
const withoutFacts = headerChange([...headersOfBytes], []);

interface Progress {
  /** Undefined: it is under way. */
  replaced?: readonly Replaced[];
  fault?: EvaluationFault;
}

/** Replaces what expressions match in the body of a request, which is held until it is whole. */
export const requestBodyFindReplace: Action = {
  type: 'request-body-find-replace',
  phases: ['on_http_request'],
  guards: false,
  result: {
    name: 'request_body_find_replace',
    fields: {
      replacements: listOf(objectOf('replacement', { replacement_index: int, matched_content: string })),
    },
  },
  build(config) {
    const replacementsFor = readReplacements(config);
    const key = {};
    return {
      ends: false,
      run(visit) {
        const { request } = visit;
        const progress = visit.keep<Progress>(key, () => ({}));
        if (progress.fault !== undefined) throw progress.fault;
        if (progress.replaced !== undefined) {
          visit.changeHeaders(withoutFacts);
          return undefined;
        }
        if (request.isUpgrade) throw new EvaluationFault('the body of an upgrade has no end');
        const body = request.outgoingBody ?? request.body;
        if (body === undefined) return { kind: 'hold', maxBytes: longestBody };
        // Another step may have held more, or made it longer.
        if (body.length > longestBody) throw new EvaluationFault(`the body has more than ${longestBody} bytes`);
        const change = replacementsFor(visit);
        if (body.length === 0) {
          finish(visit, progress, []);
          return undefined;
        }
        checkPlain(visit);
        const start = async (): Promise<undefined> => {
          try {
            const changed = await change(body);
            request.outgoingBody = changed.body;
            finish(visit, progress, changed.replaced);
          } catch (error) {
            if (!(error instanceof EvaluationFault)) throw error;
            progress.fault = error;
          }
          return undefined;
        };
        return { kind: 'wait', start };
      },
      facts: { reads: ['content-encoding'] },
    };
  },
};

function finish(visit: PolicyVisit, progress: Progress, replaced: readonly Replaced[]): void {
  progress.replaced = replaced;
  visit.setResult('request_body_find_replace', () =>
    CelMap.of({
      replacements: replaced.map(({ index, text }) =>
        CelMap.of({ replacement_index: BigInt(index), matched_content: text }),
      ),
    }),
  );
}

/** Throws for a body in which nothing could be found. */
function checkPlain({ engine: { headers } }: PolicyVisit): void {
  const codings = headerValues(headers, 'content-encoding').filter((each) => each.toLowerCase() !== 'identity');
  if (codings.length > 0) throw new EvaluationFault('the body is compressed, so that nothing can be replaced in it');
}
