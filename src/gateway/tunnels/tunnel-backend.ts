import { agentStreamsInUse } from '../../errors/shared.ts';
import { formatIp } from '../../lib/ip/address.ts';
import { formatProxyHeader } from '../../lib/ip/format-proxy-header.ts';
import type { IpEndpoint } from '../../lib/ip/format-proxy-header.ts';
import type { TunnelBackendEntry, TunnelRef } from '../../snapshot/contract.ts';
import { agentUpstreamDown, endpointOffline } from '../errors.ts';
import type { OpenOutcome, UpstreamSource } from '../upstream/upstream-source.ts';
import { TunnelFault } from './dialer.ts';
import type { TunnelDialer, TunnelStream, Visitor } from './dialer.ts';

/** A client that is to be connected through an agent. */
export interface VisitorFacts {
  readonly source: IpEndpoint;
  /** Where the client connected to. Few ask for it, and the system has to be asked then. */
  readonly destination: () => IpEndpoint;
  readonly proto: Visitor['proto'];
  readonly isTls: boolean;
}

/** Idle connections through a tunnel, which are open but carry nobody. */
type IdleOf = (tunnelId: string) => number;

/** A backend that is reached through agents: spreads connections over its tunnels, whose ids name the ways. */
export class TunnelBackend implements UpstreamSource {
  readonly id: string;
  readonly silentEnd = agentUpstreamDown;
  readonly #dialer: TunnelDialer;
  readonly #connectMs: number;
  #entry: TunnelBackendEntry;
  /** The tunnel that is looked at first, so that those with equally many connections take turns. */
  #turn = 0;

  constructor(entry: TunnelBackendEntry, dialer: TunnelDialer, connectMs: number) {
    this.id = entry.id;
    this.#entry = entry;
    this.#dialer = dialer;
    this.#connectMs = connectMs;
  }

  /** The PROXY header of a connection names one client. */
  get isShared(): boolean {
    return this.#entry.proxyProtocol === undefined;
  }

  /** True if an agent is connected, as far as is known here. */
  get hasTunnels(): boolean {
    return this.#entry.tunnels.length > 0;
  }

  /** True if an agent is on its way back, or its end is not known here yet. */
  get isExpected(): boolean {
    return this.#entry.isExpected === true || this.hasTunnels;
  }

  /** Takes over a new form of its entry. False if connections that were kept must not be used by it. */
  follow(entry: TunnelBackendEntry): boolean {
    const hasLost = this.#entry.tunnels.some(
      ({ id, holder }) => !entry.tunnels.some((tunnel) => tunnel.id === id && tunnel.holder === holder),
    );
    if (hasLost || entry.proxyProtocol !== this.#entry.proxyProtocol) return false;
    this.#entry = entry;
    return true;
  }

  preferredWay(idleOf: IdleOf): string | undefined {
    return this.#choose(idleOf)?.id;
  }

  reused(): void {
    this.#turn++;
  }

  /** The tunnel that the next connection should take: that with the fewest in use. */
  #choose(idleOf: IdleOf, tried?: ReadonlySet<string>): TunnelRef | undefined {
    const { tunnels } = this.#entry;
    if (tunnels.length < 2 && tried === undefined) return tunnels[0];
    let chosen: TunnelRef | undefined;
    let fewest = Infinity;
    for (let at = 0; at < tunnels.length; at++) {
      const tunnel = tunnels[(this.#turn + at) % tunnels.length];
      if (tunnel === undefined || tried?.has(tunnel.id) === true) continue;
      const inUse = this.#dialer.load(tunnel) - idleOf(tunnel.id);
      if (inUse < fewest) [chosen, fewest] = [tunnel, inUse];
    }
    return chosen;
  }

  open(visitor: () => VisitorFacts, idleOf: IdleOf, outcome: OpenOutcome): () => void {
    let isOver = false;
    const settle = (): void => {
      isOver = true;
      clearTimeout(timer);
    };
    const fail = (fault: TunnelFault): void => {
      settle();
      outcome.failed(fault.reason === 'full' ? agentStreamsInUse : endpointOffline, fault);
    };
    const timer = setTimeout(() => {
      fail(new TunnelFault('unreachable', 'no way through an agent was opened in time'));
    }, this.#connectMs);
    const work = async (): Promise<void> => {
      const found = await this.#dialNext(visitor(), idleOf, () => isOver);
      if (found instanceof TunnelFault) {
        if (!isOver) fail(found);
      } else if (isOver) found.stream.destroy();
      else {
        settle();
        outcome.opened(found.stream, found.via);
      }
    };
    void work();
    return settle;
  }

  /** Dials the tunnels one after another. Returns the fault of the last one if none can be had. */
  async #dialNext(
    visitor: VisitorFacts,
    idleOf: IdleOf,
    isOver: () => boolean,
  ): Promise<{ readonly stream: TunnelStream; readonly via: string } | TunnelFault> {
    const { source, proto, isTls } = visitor;
    const said: Visitor = { address: formatEndpoint(source), proto, isTls };
    const tried = new Set<string>();
    let fault: TunnelFault | undefined;
    while (!isOver()) {
      const tunnel = this.#choose(idleOf, tried);
      if (tunnel === undefined) break;
      tried.add(tunnel.id);
      try {
        const stream = await this.#dialer.dial(tunnel, said);
        // `close` follows every error; its users look at that.
        stream.on('error', ignore);
        if (stream.destroyed) throw new TunnelFault('gone', 'the connection broke at once');
        this.reused();
        this.#announce(stream, visitor);
        return { stream, via: tunnel.id };
      } catch (error) {
        const found = asFault(error);
        // An agent without room is there, which says more than one that is gone.
        if (fault?.reason !== 'full') fault = found;
      }
    }
    // Made only now: an error notes where it was made, which takes as long as all the rest of a dial.
    return fault ?? new TunnelFault('gone', 'no agent is connected');
  }

  #announce(stream: TunnelStream, { source, destination }: VisitorFacts): void {
    const { proxyProtocol } = this.#entry;
    if (proxyProtocol !== undefined) stream.write(formatProxyHeader(proxyProtocol, source, destination()));
  }
}

function asFault(error: unknown): TunnelFault {
  if (error instanceof TunnelFault) return error;
  return new TunnelFault('unreachable', error instanceof Error ? error.message : String(error));
}

function formatEndpoint({ ip, port }: IpEndpoint): string {
  return ip.family === 4 ? `${formatIp(ip)}:${port}` : `[${formatIp(ip)}]:${port}`;
}

function ignore(): void {}
