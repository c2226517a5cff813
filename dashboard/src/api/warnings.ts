import type { IpRestrictionWarningsSummary } from '../../../client/src/index.ts';
import { client } from './client.ts';
import { useRead } from './queries.ts';
import type { Read } from './queries.ts';

export type WarningSummary = IpRestrictionWarningsSummary;
export type WarningWindow = WarningSummary['window'];
/** An address that passed only because the restriction is not enforced. */
export type WarningSource = WarningSummary['sources'][number];

const refreshMs = 15_000;

export function useWarnings(id: string, window: WarningWindow, enabled = true): Read<WarningSummary> {
  return useRead(
    ['warnings', id, window],
    (signal) => client.call('IpRestrictionWarningsSummary', { path: { id }, query: { window }, signal }),
    { enabled, refreshMs },
  );
}
