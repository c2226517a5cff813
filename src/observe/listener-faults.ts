import type { ListenerFault } from '../gateway/engine.ts';

/** A port of a TCP edge that this process cannot open. */
export interface UnopenedPort {
  readonly accountId: string;
  readonly edgeId: string;
  readonly port: number;
  /** Why, in words. */
  readonly reason: string;
}

/** The ports of TCP edges that cannot be opened at the moment. */
export class ListenerFaults {
  readonly #byPort = new Map<number, UnopenedPort>();

  get count(): number {
    return this.#byPort.size;
  }

  report({ accountId, edgeId, port, cause }: ListenerFault): void {
    if (cause === undefined) this.#byPort.delete(port);
    else this.#byPort.set(port, { accountId, edgeId, port, reason: explain(cause.message) });
  }

  list(): readonly UnopenedPort[] {
    return [...this.#byPort.values()];
  }
}

/** The message of the system names the address too, which says nothing new. */
function explain(message: string): string {
  if (message.includes('EADDRINUSE')) return 'another program has this port';
  if (message.includes('EACCES')) return 'the system does not let this program open the port';
  if (message.includes('EADDRNOTAVAIL')) return 'the machine does not have the address to listen on';
  return message;
}
