import type { AgentSession } from '../../agents/server/agent-session.ts';
import { UserError } from '../../errors/user-error.ts';
import type { Store } from '../../store/store.ts';
import type { CommandBox } from './commands.ts';
import { endpointOnline } from './errors.ts';
import type { TunnelRows } from './rows.ts';
import type { Tunnel } from './table.ts';

/** An endpoint is refused because others have it, who may be gone without a word. */
export class EndpointOnline extends UserError<'url'> {
  readonly members: readonly Tunnel[];

  constructor(url: string, members: readonly Tunnel[]) {
    super(endpointOnline, { url });
    this.members = members;
  }
}

/** Time for a sign of life when somebody asks for the same name; an agent that is well answers within a round trip. */
const lifeSignMs = 3_000;

interface LivenessParts {
  readonly store: Store;
  readonly rows: TunnelRows;
  readonly commands: CommandBox;
  /** The session of this process with this id. */
  readonly sessionOf: (id: string) => AgentSession | undefined;
}

/**
 * Tells agents that are connected from those that only seem to be: frozen, cut off from the network, or held by a process
 * that was killed. The heartbeat finds them too, but an agent that was started again must not wait for its own ghost.
 */
export class Liveness {
  readonly #parts: LivenessParts;
  /** Sessions that are being asked: many who want the same name ask once. */
  readonly #asked = new Map<string, Promise<boolean>>();

  constructor(parts: LivenessParts) {
    this.#parts = parts;
  }

  /** Removes the sessions that give no sign of life, and returns true if there was one. */
  async removeDead(members: readonly Tunnel[]): Promise<boolean> {
    const ids = [...new Set(members.map(({ session_id }) => session_id))];
    const alive = await Promise.all(ids.map((id) => this.#ask(id)));
    const dead = ids.filter((_, at) => alive[at] === false);
    if (dead.length === 0) return false;
    await this.#parts.store.writeUnlogged(async (writer) => {
      // A process that holds one of them after all follows this, and closes it.
      for (const id of dead) await this.#parts.rows.removeSession(writer, id);
    });
    return true;
  }

  #ask(id: string): Promise<boolean> {
    const running = this.#asked.get(id);
    if (running !== undefined) return running;
    const { commands, sessionOf } = this.#parts;
    const session = sessionOf(id);
    const asking = session === undefined ? askElsewhere(commands, id) : isAlive(session);
    const asked = asking.finally(() => this.#asked.delete(id));
    this.#asked.set(id, asked);
    return asked;
  }
}

/** A session without a sign of life is closed. */
export async function isAlive(session: AgentSession): Promise<boolean> {
  if (await session.givesSignOfLife(lifeSignMs)) return true;
  session.close({ by: 'us', code: 0, text: 'no sign of life, and another agent asks for the same name' });
  return false;
}

async function askElsewhere(commands: CommandBox, id: string): Promise<boolean> {
  const { outcome } = await commands.send(id, 'probe');
  return outcome === 'done';
}
