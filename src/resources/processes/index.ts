import type { Resource } from '../resource.ts';
import { processCompiler } from './compile.ts';
import { GatewaysView, gatewaysOperation } from './gateways.ts';
import { PublicAddressesView, publicAddressesOperation } from './public-addresses.ts';
import { createProcesses } from './registry.ts';
import { processes } from './service.ts';
import { migrations } from './table.ts';

/** Which processes of the installation run, and where they listen: no backend may lead there. */
export const processesResource: Resource = {
  migrations,
  schemas: [GatewaysView, PublicAddressesView],
  operations: (context) => [gatewaysOperation(context), publicAddressesOperation(context)],
  compilers: () => [processCompiler],
  provide({ store, services }) {
    services.provide(processes, createProcesses(store, services));
  },
};
