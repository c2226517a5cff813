import type { Resource } from '../resource.ts';
import { createBootstrap } from './bootstrap.ts';
import { BotUserCreate, botUserOperations, BotUserUpdate, BotUserView } from './bot-users.ts';
import { createDirectory } from './directory.ts';
import * as errors from './errors.ts';
import { hostCommands } from './host-commands.ts';
import { bootstrap, principals } from './service.ts';
import { migrations } from './table.ts';

/** Accounts, users and bots. Over the API only bots can be made and changed. */
export const principalsResource: Resource = {
  errors: Object.values(errors),
  migrations,
  schemas: [BotUserView, BotUserCreate, BotUserUpdate],
  operations: botUserOperations,
  provide({ store, services }) {
    services.provide(principals, createDirectory(store));
    services.provide(bootstrap, createBootstrap(store, services));
  },
  hostCommands,
};
