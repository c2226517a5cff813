import { useMemo } from 'react';

import { shortId } from '../lib/text.ts';
import { useList } from './queries.ts';
import { useSession } from './session.ts';

export interface Owner {
  readonly name: string;
  /** "bot", "you", "user". */
  readonly kind: string;
}

/** Names owners of keys and credentials; one that is gone is named by the id. */
export function useOwners(): (id: string) => Owner {
  const { principal, users } = useSession();
  const { data: bots } = useList('BotUsersList');
  return useMemo(() => {
    const userNames = new Map(users.map(({ id, name }) => [id, name]));
    const byId = new Map(bots?.map((bot) => [bot.id, bot]));
    return (id) => {
      if (id === principal.id) return { name: principal.name, kind: 'you' };
      const bot = byId.get(id);
      if (bot !== undefined) return { name: bot.name, kind: bot.active ? 'bot' : 'bot, inactive' };
      return { name: userNames.get(id) ?? shortId(id), kind: id.startsWith('bot_') ? 'bot' : 'user' };
    };
  }, [principal, users, bots]);
}

/** Ids of the owners whose name has the word. */
export function useOwnersNamed(): (word: string) => readonly string[] {
  const { principal, users } = useSession();
  const { data: bots } = useList('BotUsersList');
  return useMemo(() => {
    const owners = [principal, ...users, ...(bots ?? [])].map(({ id, name }) => ({ id, name: name.toLowerCase() }));
    return (word) => owners.filter(({ name }) => name.includes(word.toLowerCase())).map(({ id }) => id);
  }, [principal, users, bots]);
}
