import type { Resource } from '../resource.ts';
import { createAcceptance } from './accept-invitation.ts';
import { createBootstrap } from './bootstrap.ts';
import { BotUserCreate, botUserOperations, BotUserUpdate, BotUserView } from './bot-users.ts';
import { createDirectory } from './directory.ts';
import * as errors from './errors.ts';
import { hostCommands } from './host-commands.ts';
import { InvitationCreate, invitationOperations, InvitationUpdate, InvitationView } from './invitations.ts';
import { bootstrap, invitationAcceptance, principals } from './service.ts';
import { migrations } from './table.ts';
import { userOperations, UserUpdate, UserView } from './users.ts';

/** Accounts, users, invitations and bots. Accounts are made on the host only. */
export const principalsResource: Resource = {
  errors: Object.values(errors),
  migrations,
  schemas: [
    BotUserView,
    BotUserCreate,
    BotUserUpdate,
    UserView,
    UserUpdate,
    InvitationView,
    InvitationCreate,
    InvitationUpdate,
  ],
  operations: (context) => [
    ...userOperations(context),
    ...invitationOperations(context),
    ...botUserOperations(context),
  ],
  provide(context) {
    const { store, services } = context;
    services.provide(principals, createDirectory(store));
    services.provide(invitationAcceptance, createAcceptance(context));
    services.provide(bootstrap, createBootstrap(store, services));
  },
  hostCommands,
};
