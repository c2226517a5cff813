import type { GatewayLog, ListenerFault, TrafficObserver } from '../engine.ts';
import type { TcpEdge } from './edge.ts';
import { PortListener } from './port-listener.ts';
import type { ListenSettings } from './port-listener.ts';

/** Pause before a port that the system refused is tried again. */
const retryMs = 3000;

interface PortTableSettings extends ListenSettings {
  readonly observer: TrafficObserver;
  readonly log: GatewayLog;
}

/**
 * The ports in use and their listeners. A port that cannot be opened does not fail the update: its edge is reported as
 * faulty, and the port is tried again.
 */
export class PortTable {
  readonly #settings: PortTableSettings;
  readonly #listeners = new Map<number, PortListener>();
  /** Listeners opened by `stage`, until `commit` or `abandon`. */
  readonly #staged = new Map<number, PortListener>();
  readonly #faulty = new Set<PortListener>();
  #retryTimer: NodeJS.Timeout | undefined;

  constructor(settings: PortTableSettings) {
    this.#settings = settings;
  }

  ownerOf(port: number): TcpEdge | undefined {
    return this.#listeners.get(port)?.edge;
  }

  /** Opens those of the ports that have no listener yet; they hold their connections until `commit`. */
  async stage(ports: Iterable<number>): Promise<void> {
    const opened: Promise<void>[] = [];
    for (const port of ports) {
      if (this.#listeners.has(port) || this.#staged.has(port)) continue;
      const listener = new PortListener(port, this.#settings);
      this.#staged.set(port, listener);
      opened.push(listener.open());
    }
    await Promise.all(opened);
  }

  /** Closes what `stage` has opened. */
  abandon(): void {
    for (const listener of this.#staged.values()) listener.close();
    this.#staged.clear();
  }

  /** Gives a port to an edge. A new port must have been staged. */
  assign(port: number, edge: TcpEdge): void {
    const listener = this.#listeners.get(port) ?? this.#staged.get(port);
    if (listener === undefined || listener.edge === edge) return;
    this.unassign(port, listener.edge);
    this.#listeners.set(port, listener);
    listener.edge = edge;
    if (listener.fault !== undefined) this.#reportFault(listener, edge, listener.fault);
  }

  /** Takes a port from an edge, unless another edge has it by now. */
  unassign(port: number, edge: TcpEdge | undefined): void {
    const listener = this.#listeners.get(port);
    if (edge === undefined || listener?.edge !== edge) return;
    listener.edge = undefined;
    if (this.#faulty.delete(listener)) this.#settings.observer.listenerFault(faultOf(edge, port, undefined));
  }

  /** Ends a swap: closes the `unassigned` ports that no edge has taken over, and starts the staged ones. */
  commit(unassigned: Iterable<number>): void {
    for (const port of unassigned) {
      const listener = this.#listeners.get(port);
      if (listener === undefined || listener.edge !== undefined) continue;
      listener.close();
      this.#listeners.delete(port);
    }
    for (const [port, listener] of this.#staged) {
      this.#staged.delete(port);
      if (listener.edge === undefined) listener.close();
      else listener.startAccepting();
    }
    this.#retryTimer ??= this.#faulty.size === 0 ? undefined : this.#startRetrying();
  }

  closeAll(): void {
    clearInterval(this.#retryTimer);
    this.abandon();
    for (const listener of this.#listeners.values()) listener.close();
    this.#listeners.clear();
    this.#faulty.clear();
  }

  #reportFault(listener: PortListener, edge: TcpEdge, cause: Error): void {
    const event = faultOf(edge, listener.port, cause);
    this.#faulty.add(listener);
    this.#settings.observer.listenerFault(event);
    const { edgeId, port } = event;
    this.#settings.log.error(
      { edge_id: edgeId, port, err: cause },
      'a port of a TCP edge cannot be opened; trying again',
    );
  }

  #startRetrying(): NodeJS.Timeout {
    return setInterval(() => {
      for (const listener of this.#faulty) void this.#retry(listener);
      if (this.#faulty.size > 0) return;
      clearInterval(this.#retryTimer);
      this.#retryTimer = undefined;
    }, retryMs).unref();
  }

  async #retry(listener: PortListener): Promise<void> {
    await listener.open();
    const { edge, fault, port } = listener;
    if (fault !== undefined || edge === undefined || !this.#faulty.delete(listener)) return;
    this.#settings.observer.listenerFault(faultOf(edge, port, undefined));
    this.#settings.log.info({ edge_id: edge.rules.id, port }, 'a port of a TCP edge could be opened at last');
  }
}

function faultOf({ rules: { id, accountId } }: TcpEdge, port: number, cause: Error | undefined): ListenerFault {
  return { accountId, edgeId: id, port, cause };
}
