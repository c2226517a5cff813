import { setTimeout as sleep } from 'node:timers/promises';

import type { GatewayLog } from '../gateway/engine.ts';
import { hasElapsed } from '../lib/elapsed.ts';
import { DecisionReader } from './decision-reader.ts';
import type { Decision } from './decision-line.ts';
import { gatewaySuffix } from './gateway-suffix.ts';
import { Keeper } from './keeper.ts';
import type {
  Answer,
  Appended,
  ArchiveState,
  Asked,
  KeeperTask,
  QuestionKind,
  StoreOptions,
  StoreSize,
} from './messages.ts';
import { WaitingDecisions } from './waiting-decisions.ts';
import type { Batch } from './waiting-decisions.ts';

/** Decisions wait so long at the most before they are written: what a crash can take. */
const flushMs = 1_000;
const tendMs = 60_000;
/** A keeper that takes longer for the last of them is ended; the next start finds what it has not closed. */
const closeMs = 5_000;
/** Pause before another keeper follows one that has ended. */
const restartMs = 5_000;
/** Shortest interval between two log lines about decisions that are dropped. */
const logMs = 60_000;

export interface DecisionsObserver {
  decisionsKept(rows: number): void;
  decisionsDropped(rows: number): void;
  decisionsSize(bytes: number): void;
  /** Files that wait for the archive, those of them that it cannot take, and files that were removed before it had them. */
  decisionsArchive(files: { readonly waiting: number; readonly aside: number; readonly lost: number }): void;
}

interface Parts {
  readonly options: StoreOptions;
  readonly log: GatewayLog;
  readonly observer: DecisionsObserver;
  /** A query that has no answer after so long is given up. */
  readonly answerMs?: number;
}

/** Keeps decisions about visitors: collects them, has a process of its own write them, and reads them again. */
export class Decisions implements AsyncDisposable {
  /** Names this store, also after a restart. */
  readonly gateway: string;
  readonly #parts: Parts;
  readonly #waiting = new WaitingDecisions();
  readonly #reader: DecisionReader;
  /** Apart, so that events wait for nobody who looks at decisions, and the other way round. */
  readonly #followers: DecisionReader;
  #keeper: Keeper;
  #flushing: Promise<void> | undefined;
  #flushTimer: NodeJS.Timeout | undefined;
  readonly #tendTimer: NodeJS.Timeout;
  #loggedMs = 0;
  #isClosed = false;
  #oldestMs: number | undefined;
  #archiveFault: string | undefined;
  #archiveLost = 0;
  /** Files that were told to be set aside. */
  #archiveAside: ReadonlySet<string> = new Set();

  /** Rejects with a sentence, and the remedy, if they cannot be kept. */
  static async open(parts: Parts): Promise<Decisions> {
    const { keeper, started } = await Keeper.start(parts.options);
    return new Decisions(parts, keeper, started.gateway);
  }

  private constructor(parts: Parts, keeper: Keeper, gateway: string) {
    this.#parts = parts;
    this.#keeper = keeper;
    this.gateway = gateway;
    this.#reader = new DecisionReader({ log: parts.log, answerMs: parts.answerMs });
    this.#followers = new DecisionReader({ log: parts.log, answerMs: parts.answerMs });
    this.#follow(keeper);
    this.#tendTimer = setInterval(() => void this.tend(), tendMs).unref();
  }

  get keeperPid(): number | undefined {
    return this.#keeper.pid;
  }

  /** Time of the oldest decision in the store, when it was last looked at. */
  get oldestMs(): number | undefined {
    return this.#oldestMs;
  }

  add(accountId: string, decision: Decision): void {
    if (this.#isClosed) return;
    if (!this.#waiting.add(accountId, decision)) {
      this.#parts.observer.decisionsDropped(1);
      this.#tellDropped('decisions come faster than they can be written');
    }
    this.#flushTimer ??= setTimeout(() => void this.flush(), flushMs).unref();
  }

  /** Decisions of the account that were not kept since this process began. */
  dropped(accountId: string): number {
    return this.#waiting.dropped(accountId);
  }

  /** Resolves when all decisions so far have been written, or dropped. */
  async flush(): Promise<void> {
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    this.#flushing ??= this.#flushAll().finally(() => (this.#flushing = undefined));
    await this.#flushing;
  }

  /** Answers a question; rejects as `DecisionReader.read` does. */
  ask<Kind extends QuestionKind>(kind: Kind, asked: Asked<Kind>, isAbandoned?: () => boolean): Promise<Answer<Kind>> {
    const reader = kind === 'after' ? this.#followers : this.#reader;
    return reader.read(asked.accountId, () => this.#ask(kind, this.#placed(kind, asked)), isAbandoned);
  }

  /** Closes the files of hours that are over, and removes what is too old or too much. */
  async tend(nowMs: number = Date.now()): Promise<void> {
    try {
      // keeper-main.ts answers so.
      const { bytes, oldestMs, archive } = (await this.#keeper.ask({ task: 'tend', nowMs })) as StoreSize;
      this.#parts.observer.decisionsSize(bytes);
      this.#oldestMs = oldestMs;
      if (archive !== undefined) this.#tellArchive(archive);
    } catch (error) {
      this.#parts.log.warn({ err: error }, 'the store of decisions could not be tended');
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#tendTimer);
    const overdue = setTimeout(() => {
      this.#isClosed = true;
      this.#keeper.kill();
    }, closeMs);
    await this.flush();
    this.#isClosed = true;
    await this.#keeper.ask({ task: 'close' }).catch(() => {});
    clearTimeout(overdue);
    this.#keeper.kill();
    await this.#keeper.gone;
  }

  /** Pages of several gateways are in one order: by number, and by gateway where numbers are the same. */
  #placed<Kind extends QuestionKind>(kind: Kind, asked: Asked<Kind>): Asked<Kind> {
    if (kind !== 'list') return asked;
    // The kind is that of the question.
    const { before, beforeSuffix } = asked as Asked<'list'>;
    const hasSame = before !== undefined && beforeSuffix !== undefined && gatewaySuffix(this.gateway) < beforeSuffix;
    return hasSame ? { ...asked, before: before + 1 } : asked;
  }

  async #ask<Kind extends QuestionKind>(kind: Kind, asked: Asked<Kind>): Promise<Answer<Kind>> {
    // Others may come so fast that there is no end of it.
    await Promise.race([this.flush(), sleep(flushMs, undefined, { ref: false })]);
    // The kind and its question belong together, and keeper-main.ts answers so.
    return (await this.#keeper.ask({ task: 'ask', kind, asked } as KeeperTask)) as Answer<Kind>;
  }

  async #flushAll(): Promise<void> {
    for (let batch = this.#waiting.take(); batch !== undefined; batch = this.#waiting.take()) {
      try {
        // keeper-main.ts answers so.
        const reply = await this.#keeper.ask({ task: 'append', packed: batch.packed, nowMs: Date.now() });
        this.#noteAppended(reply as Appended);
      } catch (error) {
        this.#dropBatch(batch, error instanceof Error ? error.message : String(error));
      }
    }
  }

  #noteAppended({ rows, dropped, fault }: Appended): void {
    this.#parts.observer.decisionsKept(rows);
    for (const [accountId, lost] of dropped) this.#drop(accountId, lost);
    if (fault !== undefined) this.#tellDropped(fault);
  }

  #dropBatch({ shares }: Batch, cause: string): void {
    for (const [accountId, { rows }] of shares) this.#drop(accountId, rows);
    this.#tellDropped(cause);
  }

  #drop(accountId: string, rows: number): void {
    this.#waiting.drop(accountId, rows);
    this.#parts.observer.decisionsDropped(rows);
  }

  #tellArchive({ waiting, aside, lost, fault, names }: ArchiveState): void {
    this.#parts.observer.decisionsArchive({ waiting, aside, lost });
    for (const { file, cause } of names)
      if (!this.#archiveAside.has(file))
        this.#parts.log.warn(
          { file, cause },
          'a file of decisions cannot be copied to the archive: it is tried again later',
        );
    this.#archiveAside = new Set(names.map(({ file }) => file));
    if (fault !== undefined && fault !== this.#archiveFault)
      this.#parts.log.warn({ cause: fault, waiting }, 'decisions cannot be copied to GATEHOUSE_DECISIONS_ARCHIVE');
    if (fault === undefined && this.#archiveFault !== undefined)
      this.#parts.log.info({ waiting }, 'decisions are copied to GATEHOUSE_DECISIONS_ARCHIVE again');
    this.#archiveFault = fault;
    if (lost > this.#archiveLost)
      this.#parts.log.error({ files: lost - this.#archiveLost }, 'decisions were removed before the archive had them');
    this.#archiveLost = lost;
  }

  #tellDropped(cause: string): void {
    const nowMs = Date.now();
    if (!hasElapsed(this.#loggedMs, logMs, nowMs)) return;
    this.#loggedMs = nowMs;
    this.#parts.log.warn({ cause }, 'decisions about visitors are not kept: traffic goes on without them');
  }

  /** Starts another keeper when this one ends. */
  #follow(keeper: Keeper): void {
    void keeper.gone.then(() => {
      if (this.#isClosed) return;
      this.#parts.log.error({}, 'the process that keeps decisions has ended: another one is started');
      this.#restart();
    });
  }

  #restart(): void {
    setTimeout(() => {
      if (this.#isClosed) return;
      Keeper.start(this.#parts.options).then(
        ({ keeper }) => {
          if (this.#isClosed) {
            keeper.kill();
            return;
          }
          this.#keeper = keeper;
          this.#follow(keeper);
        },
        (error: unknown) => {
          this.#parts.log.error({ err: error }, 'decisions cannot be kept for now');
          this.#restart();
        },
      );
    }, restartMs).unref();
  }
}
