import { setTimeout as sleep } from 'node:timers/promises';

import type { AgentCommand, CommandAnswer } from '../../agents/wire/commands.ts';
import { firstIdOfSecond, newId, toTimestamp } from '../../lib/ids.ts';
import type { Change } from '../../store/write/change-log.ts';
import type { ObservationWriter } from '../../store/write/transaction.ts';
import type { Store } from '../../store/store.ts';

/** A probe only asks whether the agent is there. */
export type BoxedCommand = AgentCommand | 'probe';

export const commandKind = 'agent_command';
/** A little longer than the process that holds the session waits for the agent. */
export const commandSeconds = 7;
/** Age of a command that nobody waits for; less than it takes to find that a process is gone. */
const abandonedMs = 20_000;
const prefix = 'cmd';

/** Commands to agents, through the database: any process may give one, and the one that holds the session carries it out. */
export class CommandBox {
  readonly #store: Store;
  readonly #waiting = new Map<string, (answer: CommandAnswer) => void>();

  constructor(store: Store) {
    this.#store = store;
    store.follow({ changed: (changes) => this.#look(changes), reset: () => this.#lookAll() });
  }

  /** Resolves with the answer of the agent, or `unanswered` if there is none in time. */
  async send(sessionId: string, command: BoxedCommand): Promise<CommandAnswer> {
    const id = newId(prefix);
    const { promise, resolve } = Promise.withResolvers<CommandAnswer>();
    this.#waiting.set(id, resolve);
    const stop = new AbortController();
    try {
      await this.#store.writeUnlogged(async (writer) => {
        const sql = 'INSERT INTO agent_commands (id, session_id, command) VALUES ($1, $2, $3)';
        await writer.run(sql, [id, sessionId, command]);
        writer.record({ accountId: '', kind: commandKind, id });
      });
      const late = sleep(commandSeconds * 1000, { outcome: 'unanswered' } as const, { signal: stop.signal });
      return await Promise.race([promise, late]);
    } finally {
      stop.abort();
      this.#waiting.delete(id);
      await this.#store.writeUnlogged(async (writer) => {
        await writer.run('DELETE FROM agent_commands WHERE id = $1', [id]);
      });
    }
  }

  /** The command of this id, if nobody has answered it. */
  async open(id: string): Promise<{ readonly sessionId: string; readonly command: BoxedCommand } | undefined> {
    const sql = 'SELECT session_id, command FROM agent_commands WHERE id = $1 AND answer IS NULL';
    const [row] = await this.#store.queries.all(sql, [id]);
    // Only `send` writes the column.
    return row && { sessionId: String(row[0]), command: row[1] as BoxedCommand };
  }

  async answer(id: string, answer: CommandAnswer): Promise<void> {
    await this.#store.writeUnlogged(async (writer) => {
      await writer.run('UPDATE agent_commands SET answer = $2 WHERE id = $1', [id, JSON.stringify(answer)]);
      writer.record({ accountId: '', kind: commandKind, id });
    });
  }

  async #look(changes: readonly Change[]): Promise<void> {
    for (const { kind, id } of changes) if (kind === commandKind && this.#waiting.has(id)) await this.#take(id);
  }

  async #lookAll(): Promise<void> {
    for (const id of this.#waiting.keys()) await this.#take(id);
  }

  async #take(id: string): Promise<void> {
    const [row] = await this.#store.queries.all('SELECT answer FROM agent_commands WHERE id = $1', [id]);
    // Only `answer` writes the column.
    if (typeof row?.[0] === 'string') this.#waiting.get(id)?.(JSON.parse(row[0]) as CommandAnswer);
  }
}

/** Removes the commands of processes that ended before they could. */
export async function removeAbandonedCommands(writer: ObservationWriter): Promise<void> {
  const first = firstIdOfSecond(prefix, toTimestamp(Date.now() - abandonedMs));
  await writer.run('DELETE FROM agent_commands WHERE id < $1', [first]);
}
