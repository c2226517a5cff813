import * as acmeErrors from '../src/acme/errors.ts';
import * as agentErrors from '../src/agents/errors.ts';
import * as dashboardErrors from '../src/api/dashboard/errors.ts';
import * as apiErrors from '../src/api/errors.ts';
import * as sharedErrors from '../src/errors/shared.ts';
import type { ErrorDefinition } from '../src/errors/user-error.ts';
import * as gatewayErrors from '../src/gateway/errors.ts';
import { modules } from '../src/modules/index.ts';
import { resources } from '../src/resources/index.ts';

/** Every error the service can answer, sorted by number. Each resource and module lists its own. */
export const errorCatalog: readonly ErrorDefinition[] = [
  ...new Set<ErrorDefinition>([
    ...Object.values(sharedErrors),
    ...Object.values(apiErrors),
    ...Object.values(dashboardErrors),
    ...Object.values(gatewayErrors),
    ...Object.values(agentErrors),
    ...Object.values(acmeErrors),
    ...modules.flatMap(({ errors }) => errors),
    ...resources.flatMap(({ errors = [] }) => errors),
  ]),
].toSorted((a, b) => a.code - b.code);
