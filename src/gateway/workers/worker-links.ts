import type { Duplex } from 'node:stream';

import { LinkServer } from '../../links/link-server.ts';
import type { OpenStream } from '../../links/stream-request.ts';
import type { GatewayBoundReports } from '../bounds/bound.ts';
import { reportBounds } from '../bounds/report-bounds.ts';
import type { GatewayLog, TrafficObserver } from '../engine.ts';
import { mebibyte } from '../tunnels/stream-dialer.ts';
import type { WorkerProcess } from './worker-process.ts';

interface WorkerLinksParts {
  /** The way to agents from this process. */
  readonly openStream: OpenStream;
  readonly unreadMib: number;
  readonly observer: TrafficObserver;
  readonly log: GatewayLog;
}

/** The ends of the links to workers that are in this process: sessions of agents are held here, visitors come there. */
export class WorkerLinks implements Disposable {
  readonly #parts: WorkerLinksParts;
  readonly #reports: GatewayBoundReports;

  constructor(parts: WorkerLinksParts) {
    this.#parts = parts;
    this.#reports = reportBounds(parts.observer, parts.log);
    this.#reports.watch('link_unread_mib', parts.unreadMib);
  }

  serve(worker: WorkerProcess, socket: Duplex): void {
    const { openStream, unreadMib } = this.#parts;
    // The socket holds it.
    const link = new LinkServer(socket, {
      open: openStream,
      maxUnreadBytes: unreadMib * mebibyte,
      overrun: () => {
        this.#reports.refused('link_unread_mib', { worker: worker.number });
      },
      // A worker that has lost its link could not serve any agent: its successor has a new one.
      closed: () => {
        worker.kill();
      },
    });
    void link;
  }

  [Symbol.dispose](): void {
    this.#reports[Symbol.dispose]();
  }
}
