import { backgroundTasks } from '../background-tasks.ts';
import type { Resource } from '../resource.ts';
import { AlertKeeper } from './keeper.ts';
import { migrations } from './table.ts';

/** States that accounts are told of by events: backends that are down, certificates that end, agents that are connected. */
export const alertsResource: Resource = {
  migrations,
  schemas: [],
  operations: () => [],
  provide(context) {
    context.services.add(backgroundTasks, {
      ofApi: true,
      async start(log) {
        const keeper = new AlertKeeper(context, log);
        keeper.start();
        return keeper;
      },
    });
  },
};
