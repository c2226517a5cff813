import { Type } from 'typebox';
import type { Static } from 'typebox';

import type { Call } from '../../api/call.ts';
import { crudOperations } from '../../api/crud.ts';
import { invalidValue } from '../../api/errors.ts';
import { booleanIn, commonFields, textIn } from '../../api/filter/fields.ts';
import type { Operation } from '../../api/operation.ts';
import { text } from '../../api/body/text-fields.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import type { ResourceContext } from '../resource.ts';
import { deletePrincipal, insertPrincipal } from './directory.ts';
import { botNameEmpty, botNameTaken, botNameTooLong, botsNeedAdmin } from './errors.ts';
import { endWhatStaysEnded } from './ended-by-deactivation.ts';
import { ownedByBots } from './service.ts';
import { botUsers } from './table.ts';
import type { BotUser } from './table.ts';

const nameLimitBytes = 255;
const name = text(nameLimitBytes, 'Human-readable name, unique in the account.', 'deploy pipeline');
const activeText = 'false: its API keys are refused.';
const active = Type.Boolean({ description: activeText });

export const BotUserView = Type.Object(
  {
    id: Type.String({ description: 'Unique identifier of the bot.' }),
    uri: Type.String({ description: "URI of this bot's resource." }),
    name,
    active,
    created_at: Type.String({ format: 'date-time', description: 'Creation time, RFC 3339.' }),
  },
  { $id: 'BotUser' },
);
export const BotUserCreate = Type.Object(
  { name, active: Type.Optional(Type.Boolean({ description: activeText, default: true })) },
  { $id: 'BotUserCreate', additionalProperties: false },
);
export const BotUserUpdate = Type.Object(
  { name: Type.Optional(name), active: Type.Optional(active) },
  { $id: 'BotUserUpdate', additionalProperties: false },
);
type BotUserInput = Static<typeof BotUserUpdate>;

/** Bots have two names in the public service, an older and a newer one; both stand for the same resources here. */
const names = [
  {
    path: '/bot_users',
    noun: 'bot user',
    plural: 'bot users',
    name: 'BotUsers',
    tag: 'Bot users',
    listKey: 'bot_users',
  },
  {
    path: '/service_users',
    noun: 'service user',
    plural: 'service users',
    name: 'ServiceUsers',
    tag: 'Service users',
    listKey: 'service_users',
  },
] as const;

export function botUserOperations(context: ResourceContext): readonly Operation[] {
  return names.flatMap((each) => operationsAt(context, each));
}

function operationsAt({ store, services }: ResourceContext, named: (typeof names)[number]): readonly Operation[] {
  return crudOperations({
    ...named,
    store,
    table: botUsers,
    filterFields: {
      id: commonFields.id,
      created_at: commonFields.created_at,
      name: textIn('name'),
      active: booleanIn('active'),
    },
    takesNewId: true,
    view: BotUserView,
    createBody: BotUserCreate,
    updateBody: BotUserUpdate,
    rights: {
      read: 'everyone',
      write: { error: botsNeedAdmin, refusal: () => new UserError(botsNeedAdmin) },
    },
    fieldErrors: {
      name: (value, missing) => {
        if (missing) return new UserError(botNameEmpty);
        const bytes = typeof value === 'string' ? Buffer.byteLength(value) : 0;
        return bytes > nameLimitBytes ? new UserError(botNameTooLong, { bytes }) : undefined;
      },
    },
    errors: {
      create: [botNameEmpty, botNameTooLong, botNameTaken],
      update: [botNameEmpty, botNameTooLong, botNameTaken],
      delete: [],
    },
    async create(transaction, { caller: { accountId }, body, newId }) {
      const bot: BotUser = { ...botUsers.newDocument(accountId, newId), name: body.name, active: body.active ?? true };
      await checkName(transaction, bot);
      await insertPrincipal(transaction, bot);
      return botUsers.insert(transaction, bot);
    },
    async update(transaction, { body }: Call<BotUserInput>, previous) {
      const bot: BotUser = { ...previous, name: body.name ?? previous.name, active: body.active ?? previous.active };
      await checkName(transaction, bot);
      await endWhatStaysEnded(transaction, services, previous, bot);
      return botUsers.update(transaction, previous, bot);
    },
    async remove(transaction, _call, bot) {
      for (const owned of services.all(ownedByBots)) await owned.deleteOwnedBy(transaction, bot.account_id, bot.id);
      await botUsers.delete(transaction, bot);
      await deletePrincipal(transaction, bot.id);
    },
    present: (bot, { uri }) => ({
      id: bot.id,
      uri: uri(`${named.path}/${bot.id}`),
      name: bot.name,
      active: bot.active,
      created_at: bot.created_at,
    }),
  });
}

async function checkName(transaction: Transaction, bot: BotUser): Promise<void> {
  if (bot.name === '') throw new UserError(botNameEmpty);
  // The name stands in a column of its own, where PostgreSQL cannot hold one.
  if (bot.name.includes('\0')) throw new UserError(invalidValue, { field: '"name"', reason: 'holds a NUL character' });
  const [taken] = await transaction.all('SELECT id FROM bot_users WHERE account_id = $1 AND name = $2 AND id <> $3', [
    bot.account_id,
    bot.name,
    bot.id,
  ]);
  if (taken !== undefined) throw new UserError(botNameTaken, { name: quote(bot.name), id: String(taken[0]) });
}
