import { defaultLimits } from '../../agents/server/limits.ts';
import type { Config } from '../../config/config.ts';
import { reportBounds } from '../../gateway/bounds/report-bounds.ts';
import type { LocalCa } from '../../gateway/certificates/local-ca.ts';
import { linkUnreachable } from '../../gateway/errors.ts';
import type { ResilientGateway } from '../../gateway/resilient-gateway.ts';
import { dialMs, mebibyte } from '../../gateway/tunnels/stream-dialer.ts';
import type { LinkDirectory } from '../../links/link-directory.ts';
import { LinkListener } from '../../links/link-listener.ts';
import type { LinkListenerOptions } from '../../links/link-listener.ts';
import { LinkPool } from '../../links/link-pool.ts';
import type { AnswerQuestion } from '../../links/question.ts';
import { connectLink } from '../../links/link-tls.ts';
import { StreamRefused } from '../../links/stream-request.ts';
import type { OpenStream, StreamRequest } from '../../links/stream-request.ts';
import type { Logger } from '../../log.ts';
import type { Metrics } from '../../observe/metrics.ts';
import type { AskProcess } from '../../resources/other-processes.ts';
import type { Observers } from '../observers.ts';
import { gatewayTimeouts } from '../start-gateway.ts';
import { askProcesses } from './ask-processes.ts';
import { linkCredentials } from './link-credentials.ts';
import { shareInspections } from './share-inspections.ts';

interface LinkParts extends Pick<Observers, 'observer' | 'metrics' | 'rates' | 'log' | 'inspections'> {
  readonly processId: string;
  readonly localCa: LocalCa;
  /** Undefined where the process carries no traffic. */
  readonly gateway: ResilientGateway | undefined;
  readonly directory: LinkDirectory;
  /** Answers questions of other processes. */
  readonly answer: AnswerQuestion;
  /** Opens streams through sessions of this process; undefined where it holds none. */
  readonly own: OpenStream | undefined;
}

export interface RunningLinks extends Disposable {
  /** Port of the listener; undefined if others cannot connect. */
  readonly port: number | undefined;
  /** Opens streams through any session of the installation. */
  readonly open: OpenStream;
  /** Asks other processes. */
  readonly ask: AskProcess;
  /** Accepts no more links; those that are open stay. */
  stop(): void;
}

/** A link without streams is kept for a while, for the next visitor. */
const idleMs = 60_000;
/** Shortest interval between two log lines about one process that cannot be reached. */
const logMs = 60_000;
const heartbeat = { intervalMs: defaultLimits.heartbeatMs, silenceMs: defaultLimits.silenceMs };

/** Opens the listener for links, and the way to the sessions of other processes and to other gateways. */
export async function startLinks(config: Config, parts: LinkParts): Promise<RunningLinks> {
  const { processId, localCa, directory, own, gateway, observer, metrics, rates, log } = parts;
  const reports = reportBounds(observer, log);
  const common: CommonParts = {
    credentials: linkCredentials(localCa, processId),
    heartbeat,
    maxUnreadBytes: config.linkUnreadMib * mebibyte,
    overrun: () => {
      reports.refused('link_unread_mib', {});
    },
  };
  const pool = openPool(config, parts, common);
  directory.onGone((gone) => {
    pool.forget(gone);
  });
  reports.watch('link_unread_mib', config.linkUnreadMib, () => Math.ceil(pool.unreadBytes / mebibyte));
  shareRates(parts, pool);
  const ask = askProcesses(pool);
  const sharing = gateway === undefined ? undefined : shareInspections({ ...parts, ask });
  const listener = await openListener(config, parts, common);
  metrics.watchLinks({ opened: () => pool.size, accepted: () => listener?.size ?? 0, streams: () => pool.streams });
  const faults = new LinkFaults(metrics, log);
  return {
    port: listener?.port,
    async open(request, user) {
      if (request.holder !== processId) {
        await pool.open(request, user).catch((error: unknown) => {
          faults.count(request, error);
          throw error;
        });
      } else await (own ?? refuseAll)(request, user);
    },
    ask,
    stop: () => listener?.stop(),
    [Symbol.dispose]() {
      sharing?.[Symbol.dispose]();
      listener?.close();
      rates[Symbol.dispose]();
      pool[Symbol.dispose]();
      reports[Symbol.dispose]();
    },
  };
}

interface AskingParts extends Pick<LinkParts, 'processId' | 'localCa' | 'directory' | 'observer' | 'log'> {}

/** Opens the way to ask other processes, for one that carries no visitors to them. */
export function startAsking(config: Config, parts: AskingParts): Disposable & Pick<RunningLinks, 'ask'> {
  const { processId, localCa, directory, observer, log } = parts;
  const reports = reportBounds(observer, log);
  const pool = openPool(config, parts, {
    credentials: linkCredentials(localCa, processId),
    heartbeat,
    maxUnreadBytes: config.linkUnreadMib * mebibyte,
    overrun: () => {
      reports.refused('link_unread_mib', {});
    },
  });
  directory.onGone((gone) => {
    pool.forget(gone);
  });
  return {
    ask: askProcesses(pool),
    [Symbol.dispose]() {
      pool[Symbol.dispose]();
      reports[Symbol.dispose]();
    },
  };
}

/** The same for links that are opened and for those that are accepted. */
type CommonParts = Pick<LinkListenerOptions, 'credentials' | 'heartbeat' | 'maxUnreadBytes' | 'overrun'>;

function openPool(
  config: Config,
  { directory, log }: Pick<LinkParts, 'directory' | 'log'>,
  { credentials, ...common }: CommonParts,
): LinkPool {
  return new LinkPool({
    ...common,
    directory,
    connect: (address, holder, signal) => connectLink(address, holder, credentials, signal),
    dialMs: dialMs(gatewayTimeouts(config)),
    idleMs,
    log,
  });
}

/** Gateways tell each other what rate limits let in. */
function shareRates({ gateway, rates, directory, processId }: LinkParts, pool: LinkPool): void {
  if (gateway === undefined) return;
  const ids = () => directory.otherGateways(processId);
  rates.open({ ids, open: (id, closed) => pool.openMessages(id, closed) }, (reports) => {
    gateway.engine?.countRates(reports);
  });
  directory.onChange(() => {
    rates.follow();
  });
}

/** Only where there are sessions to be reached, or traffic. */
async function openListener(
  { linkListen, agentAuthSeconds, agentPending }: Config,
  { own = refuseAll, answer, rates, metrics, log }: LinkParts,
  common: CommonParts,
): Promise<LinkListener | undefined> {
  if (linkListen === undefined) return undefined;
  const listener = await LinkListener.open({
    ...common,
    listen: linkListen,
    open: own,
    heard: (message) => {
      rates.hear(message);
    },
    answer,
    handshakeMs: agentAuthSeconds * 1000,
    maxPending: agentPending,
    refused: () => {
      metrics.linkRefused();
    },
    log,
  });
  log.info({ host: linkListen.host, port: listener.port }, 'listening for links');
  return listener;
}

const refuseAll: OpenStream = () => Promise.reject(new StreamRefused('gone', 'this process holds no sessions'));

/** Counts streams that could not be opened over a link, and tells the operator which process cannot be reached. */
class LinkFaults {
  readonly #metrics: Metrics;
  readonly #log: Logger;
  readonly #loggedMs = new Map<string, number>();

  constructor(metrics: Metrics, log: Logger) {
    this.#metrics = metrics;
    this.#log = log;
  }

  count({ holder }: StreamRequest, error: unknown): void {
    const reason = error instanceof StreamRefused ? error.reason : 'unreachable';
    this.#metrics.linkFailed(reason);
    if (reason !== 'unreachable') return;
    const nowMs = performance.now();
    for (const [id, loggedMs] of this.#loggedMs) if (nowMs - loggedMs > logMs) this.#loggedMs.delete(id);
    if (this.#loggedMs.has(holder)) return;
    this.#loggedMs.set(holder, nowMs);
    const { code, message } = linkUnreachable;
    this.#log.warn({ process: holder, code, err: error }, message);
  }
}
