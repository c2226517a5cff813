import type { Resource } from '../resource.ts';
import { dashboardSessions } from './service.ts';
import { createSessions } from './sessions.ts';
import { migrations } from './table.ts';

/** Sessions of the dashboard: begun with a token, kept as hashes. They have routes of their own in the API. */
export const dashboardSessionsResource: Resource = {
  migrations,
  schemas: [],
  operations: () => [],
  provide(context) {
    context.services.provide(dashboardSessions, createSessions(context));
  },
};
