import type { Configuration, ConfigurationMoment } from '../../../../client/src/index.ts';
import { useOne } from '../../api/queries.ts';
import type { Read } from '../../api/queries.ts';
import type { PastEntry } from './kinds.ts';

/** The configuration as it was at a moment. */
export interface Past {
  /** As the URL names it. */
  readonly at: string;
  readonly moment: ConfigurationMoment;
  readonly earlier: ConfigurationMoment | null;
  readonly later: ConfigurationMoment | null;
  readonly first: ConfigurationMoment | null;
  readonly entries: readonly PastEntry[];
}

export function usePast(at: string, enabled: boolean): Read<Past> {
  const read = useOne('ConfigurationGet', { query: { at } }, { enabled });
  return { ...read, data: read.data === undefined ? undefined : pastOf(at, read.data.document) };
}

const known = new WeakMap<Configuration, Past>();

/** The same object for the same answer, so that what is computed from it is kept. */
function pastOf(at: string, answer: Configuration): Past {
  const before = known.get(answer);
  if (before !== undefined) return before;
  const {
    entries,
    ids = [],
    moment = { version: 0, created_at: null },
    earlier = null,
    later = null,
    first = null,
  } = answer;
  const past = {
    at,
    moment,
    earlier,
    later,
    first,
    entries: entries.map(({ kind, name, ...fields }, place) => ({ id: ids[place] ?? '', kind, name, fields })),
  };
  known.set(answer, past);
  return past;
}
