import { ready, whenReady } from '../lib/awaitable.ts';
import type { Awaitable } from '../lib/awaitable.ts';
import { BoundedCache } from '../lib/bounded-cache.ts';
import { ChangeFeed } from './write/change-feed.ts';
import type { Follower, HistoryWatcher } from './write/change-feed.ts';
import type { Actor, Change } from './write/change-log.ts';
import { asRehearsed } from './write/rehearsed-writes.ts';
import type { JsonSql } from './search/condition.ts';
import type { Database, Queries } from './database.ts';
import { passingDocuments } from './search/filtered-page.ts';
import type { Filtered, FilteredPage } from './search/filtered-page.ts';
import { GroupCommit } from './write/group-commit.ts';
import type { Head, HistoryRecord, Point } from './write/history.ts';
import type { ExplainOverQuota } from './write/batch.ts';
import type { ObservationWriter, Transaction } from './write/transaction.ts';
import { migrate } from './migrate.ts';
import type { Migration } from './migrate.ts';
import { openDatabase } from './open-database.ts';
import { PageIds } from './search/page-ids.ts';
import type { SearchSteps } from './search/search-steps.ts';
import { storeMigrations } from './store-migrations.ts';
import type { Page, Stored, Table } from './table.ts';

interface StoreOptions {
  /** `sqlite:PATH` or `postgres://…` */
  readonly url: string;
  /** A PostgreSQL server to listen at, or `off`, where `url` leads through a pooler. */
  readonly listenUrl?: string | undefined;
  readonly migrations: readonly Migration[];
  /** A point of the database that this process goes by already; files of older releases do not say the mark. */
  readonly seen?: { readonly version: number; readonly mark?: number } | undefined;
  /** Called when changes of other processes can be read no longer; the feed goes on polling. */
  readonly onFeedFault: (error: unknown) => void;
  /** Called when they can be read again. */
  readonly onFeedRecovered?: () => void;
  readonly historyWatcher?: HistoryWatcher;
  readonly explainOverQuota?: ExplainOverQuota;
}

/** Documents kept in memory. */
const cacheSize = 20_000;
/** Longer than any poll of the database should take. */
const staleAfterMs = 2_000;
/** Limit for a statement that reads a whole table. */
const snapshotTimeoutMs = 60_000;

export async function openStore(options: StoreOptions): Promise<Store> {
  const database = await openDatabase(options.url, options.listenUrl);
  try {
    await migrate(database, [...storeMigrations, ...options.migrations]);
    const store = new Store(database, await database.readHead(), options);
    if (options.seen !== undefined) await store.compare(options.seen);
    await store.watch(options);
    return store;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** The one door to the database: reads, writes, and the changes that were written. */
export class Store implements AsyncDisposable {
  readonly queries: Queries;
  readonly json: JsonSql;
  /** An expression for milliseconds since 1970, by the clock of the database. */
  readonly clockSql: string;
  readonly #database: Database;
  readonly #feed: ChangeFeed;
  readonly #writer: GroupCommit;
  readonly #documents = new BoundedCache<string, Stored>(cacheSize);
  readonly #pageIds: PageIds;
  #stopWatching = () => {};
  #isClosing = false;
  #history: HistoryRecord = { changes: 0, lostChanges: 0, last: undefined };

  constructor(
    database: Database,
    head: Head,
    { historyWatcher, explainOverQuota }: Pick<StoreOptions, 'historyWatcher' | 'explainOverQuota'> = {},
  ) {
    this.#database = database;
    this.queries = database.reader;
    this.json = database.json;
    this.clockSql = database.clockSql;
    this.#pageIds = new PageIds(database);
    this.#feed = new ChangeFeed(database, head, {
      changed: (last) => {
        const { changes, lostChanges } = this.#history;
        this.#history = { changes: changes + 1, lostChanges: lostChanges + last.lost.length, last };
        historyWatcher?.changed(last);
      },
      rebuilt: () => historyWatcher?.rebuilt(),
    });
    this.#feed.follow({
      changed: (changes) => {
        this.#forget(changes);
      },
      reset: () => {
        this.#documents.clear();
      },
    });
    this.#writer = new GroupCommit(database, this.#feed, explainOverQuota);
  }

  /** The version up to which this process has seen all changes. */
  get version(): number {
    return this.#feed.point.version;
  }

  /** The same as a point in the history of the database; another object after each change. */
  get point(): Point {
    return this.#feed.point;
  }

  /** The database has another history than before, and not everything in this process goes by it yet. */
  get isRebuilding(): boolean {
    return this.#feed.isRebuilding;
  }

  /** The cache may be behind the database: it was not confirmed lately. */
  get isStale(): boolean {
    return this.#feed.ageMs > staleAfterMs;
  }

  /** Why the database cannot be trusted at the moment, beside being away. */
  get fault(): string | undefined {
    return this.#database.fault?.();
  }

  get history(): HistoryRecord {
    return this.#history;
  }

  /** The disk was full when something was last to be changed; reading goes on. */
  get isFull(): boolean {
    return this.#writer.isFull;
  }

  /** The database has not answered a write for a while: further ones are refused at once. Reading goes on. */
  get isStalled(): boolean {
    return this.#writer.isStalled;
  }

  /** Followers are notified in the order in which they came, before the write that made a change is answered. */
  follow(follower: Follower): void {
    this.#feed.follow(follower);
  }

  /** Calls `reset` of the follower, then follows. No change comes before that is done, and none is left out. */
  followFromStart(follower: Follower): Promise<void> {
    return this.#feed.followFromStart(follower);
  }

  /** Catches up with what other processes have written, until all of it is in force. */
  async poll(): Promise<void> {
    await this.#feed.poll();
    await this.#feed.settledOf();
  }

  /** Resolves when what followers but this one have put off of the changes of these accounts is done; undefined where nothing is. */
  settledOf(accountIds: ReadonlySet<string>, but: Follower): Promise<void> | undefined {
    return this.#feed.settledOf(accountIds, but);
  }

  write<T>(actor: Actor, work: (transaction: Transaction) => Promise<T>): Promise<T> {
    return this.#writer.submit(actor, asRehearsed(work));
  }

  /** Writes observations in turn with the writes: durable, but without a version and a row in the change log. */
  writeUnlogged<T>(work: (writer: ObservationWriter) => Promise<T>, accountId?: string): Promise<T> {
    return this.#writer.submitUnlogged(work, accountId);
  }

  /** Reads from one state of the database throughout. */
  async readSnapshot<T>(work: (queries: Queries) => Promise<T>): Promise<T> {
    const connection = await this.#database.connect(snapshotTimeoutMs);
    try {
      await this.#database.beginSnapshot(connection);
      return await work(connection);
    } finally {
      await connection.close();
    }
  }

  /** Reads from the cache unless that is stale. A hit is returned at once. */
  find<Document extends Stored>(
    table: Table<Document>,
    accountId: string,
    id: string,
  ): Awaitable<Document | undefined> {
    if (!table.mayHave(id)) return ready(undefined);
    // Ids carry their kind, so a document under such an id is of its table's type.
    const cached = this.isStale ? undefined : (this.#documents.get(id) as Document | undefined);
    if (cached !== undefined) return ready(cached.account_id === accountId ? cached : undefined);
    const ticket = this.#documents.ticket();
    return table.load(this.queries, id).then((document) => {
      if (document === undefined) return undefined;
      if (!table.isLong(document)) this.#documents.fill(ticket, id, document);
      return document.account_id === accountId ? document : undefined;
    });
  }

  /**
   * A page of the account's documents, newest first. Where all of them are in memory only their ids are read: reading
   * and parsing the documents costs more than all the rest of a list.
   */
  page<Document extends Stored>(table: Table<Document>, accountId: string, page: Page): Awaitable<readonly Document[]> {
    if (this.isStale) return table.page(this.queries, accountId, page);
    return whenReady(this.#pageIds.read(table, accountId, page), (ids) => {
      const cached = this.#cachedDocuments(ids);
      // Ids carry their kind, so documents under such ids are of their table's type.
      if (cached !== undefined) return cached as readonly Document[];
      const ticket = this.#documents.ticket();
      return table.page(this.queries, accountId, page).then((documents) => {
        for (const document of documents)
          if (!table.isLong(document)) this.#documents.fill(ticket, document.id, document);
        return documents;
      });
    });
  }

  /** A page of the account's documents that pass a condition, newest first. */
  filteredPage<Document extends Stored>(
    table: Table<Document>,
    accountId: string,
    page: FilteredPage,
  ): Promise<Filtered<Document>> {
    return table.filteredPage(this.queries, this.json, accountId, page);
  }

  /** Tells which of some documents that are in no table pass, in their order. */
  passing(documents: readonly object[], steps: SearchSteps): Promise<readonly boolean[]> {
    return passingDocuments(this.queries, this.json, documents, steps);
  }

  /** Tells the watcher of the history if the database does not have what this process has seen of it before. */
  compare(seen: NonNullable<StoreOptions['seen']>): Promise<void> {
    return this.#feed.compare(seen);
  }

  async watch({ onFeedFault, onFeedRecovered }: StoreOptions): Promise<void> {
    let last: Promise<void> | undefined;
    let isFailing = false;
    const poll = () => {
      // A signal may come while the database is being closed.
      if (this.#isClosing) return;
      const polling = this.#feed.poll();
      // Several callers may share one poll.
      if (polling === last) return;
      last = polling;
      polling.then(
        () => {
          if (isFailing) onFeedRecovered?.();
          isFailing = false;
        },
        (error: unknown) => {
          if (!isFailing) onFeedFault(error);
          isFailing = true;
        },
      );
    };
    this.#stopWatching = await this.#database.watch({
      poll,
      noChange: () => {
        // The changes that a failed poll would have read are not signalled again.
        if (this.#feed.isBehind) poll();
        else this.#feed.markFresh();
      },
      doubt: () => {
        this.#feed.doubt();
      },
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    this.#stopWatching();
    await this.#writer.close();
    // A poll under way needs its connection.
    await this.#feed.settled();
    await this.#database.close();
  }

  /** Undefined unless all of them are in memory. */
  #cachedDocuments(ids: readonly string[]): readonly Stored[] | undefined {
    const documents: Stored[] = [];
    for (const id of ids) {
      const document = this.#documents.get(id);
      if (document === undefined) return undefined;
      documents.push(document);
    }
    return documents;
  }

  #forget(changes: readonly Change[]): void {
    for (const { id, cascades } of changes) {
      if (cascades) this.#documents.clear();
      else this.#documents.drop(id);
    }
  }
}
