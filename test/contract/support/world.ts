import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';

import type { Flags } from '../../../src/config/config.ts';
import { resources } from '../../../src/resources/index.ts';
import type { Row } from '../../../src/store/database.ts';
import { Gatehouse } from '../../support/gatehouse.ts';
import { Account } from './account.ts';

/** One row of the change log. */
export interface LoggedChange {
  readonly accountId: string;
  readonly actor: string;
  readonly operationId: string;
  readonly kind: string;
  readonly resourceId: string;
  readonly before: string | null;
  readonly after: string | null;
}

/** A Gatehouse with two accounts. */
export class World implements AsyncDisposable {
  readonly gatehouse: Gatehouse;
  /** The account of the first start, used by its admin. */
  readonly own: Account;
  /** Another account, used by its admin. */
  readonly foreign: Account;

  readonly isPostgres: boolean;
  /** Tables that only calls change; known once they have been asked for. */
  #tableNames: readonly string[] | undefined;
  /** A number that others' commits change, which SQLite has: while it stays, so does the content. */
  readonly #commits: (() => unknown) | undefined;
  readonly #closing = new DisposableStack();
  #last: { readonly mark: unknown; readonly content: string } | undefined;

  private constructor(gatehouse: Gatehouse, own: Account, foreign: Account, databaseUrl: string) {
    this.isPostgres = databaseUrl.startsWith('postgres');
    if (!this.isPostgres) {
      const database = new DatabaseSync(databaseUrl.replace(/^sqlite:/, ''), { readOnly: true });
      this.#closing.defer(() => {
        database.close();
      });
      const asked = database.prepare('PRAGMA data_version');
      this.#commits = () => asked.get()?.['data_version'];
    }
    this.gatehouse = gatehouse;
    this.own = own;
    this.foreign = foreign;
  }

  static async start(databaseUrl: string, settings: Flags = {}): Promise<World> {
    const gatehouse = await Gatehouse.start(databaseUrl, {
      agentListen: '127.0.0.1:0',
      httpsListen: '127.0.0.1:0',
      drainSeconds: '0',
      ...settings,
    });
    const own = await Account.of(gatehouse, gatehouse.token);
    // Operations that are tried again and again need more of them than anybody else.
    const set = ['event_destinations', 'event_subscriptions'].map((quota) => `${quota}=10000`).join();
    await hostCommand(gatehouse, 'accounts quotas', { set });
    await hostCommand(gatehouse, 'accounts create', { name: 'neighbour' });
    const token = await createUser(gatehouse, { account: 'neighbour', name: 'their admin', role: 'admin' });
    return new World(gatehouse, own, await Account.of(gatehouse, token), databaseUrl);
  }

  /** Creates a user in the first account. */
  async createUser(name: string, role: 'admin' | 'member'): Promise<Account> {
    const token = await createUser(this.gatehouse, { account: 'default', name, role });
    return Account.of(this.gatehouse, token);
  }

  hostCommand(name: string, values: Readonly<Record<string, string>>): Promise<string> {
    return hostCommand(this.gatehouse, name, values);
  }

  async version(): Promise<number> {
    const [row] = await this.#query('SELECT version FROM store_version');
    return Number(row?.[0]);
  }

  async changesOf(version: number): Promise<readonly LoggedChange[]> {
    const rows = await this.#query(
      `SELECT account_id, actor, operation_id, kind, resource_id, before, after FROM change_log WHERE version = ${version}`,
    );
    return rows.map(([accountId, actor, operationId, kind, resourceId, before, after]) => ({
      accountId: String(accountId),
      actor: String(actor),
      operationId: String(operationId),
      kind: String(kind),
      resourceId: String(resourceId),
      before: before === null || before === undefined ? null : String(before),
      after: after === null || after === undefined ? null : String(after),
    }));
  }

  /** Reads every row of every table, except what was only observed, which changes by itself. */
  async content(): Promise<string> {
    const mark = this.#commits?.();
    if (mark !== undefined && mark === this.#last?.mark) return this.#last.content;
    this.#tableNames ??= (await this.#tables()).filter((name) => !observations.has(name));
    assert.ok(this.#tableNames.length > 5);
    const found = this.isPostgres ? await this.#rowsAtOnce(this.#tableNames) : await this.#rows(this.#tableNames);
    const content = [...found].map(([name, rows]) => `${name}\n${rows.toSorted().join('\n')}`).join('\n');
    this.#last = { mark, content };
    return content;
  }

  /** Fails if the work changes the database. */
  async unchanged(work: () => Promise<void>): Promise<void> {
    const before = await this.content();
    await work();
    await this.mustBe(before);
  }

  /** Fails unless the content is still the same. */
  async mustBe(content: string): Promise<void> {
    const now = await this.content();
    if (now === content) return;
    const known = new Set(content.split('\n'));
    const fresh = now.split('\n').filter((line) => !known.has(line));
    assert.fail(`the database has changed; rows that were not there before:\n${fresh.join('\n')}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.dispose();
    await this.gatehouse[Symbol.asyncDispose]();
  }

  async #rows(tables: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    const found = new Map<string, readonly string[]>();
    for (const name of tables)
      found.set(
        name,
        (await this.#query(rowsOf(name))).map((row) => JSON.stringify(row)),
      );
    return found;
  }

  /** A statement for each table, which travels to the server, would take ten times as long. */
  async #rowsAtOnce(tables: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
    const found = new Map(tables.map((name) => [name, [] as string[]]));
    const each = tables.map((name) => `SELECT '${name}', CAST(to_json(r) AS text) FROM (${rowsOf(name)}) r`);
    for (const [name, row] of await this.#query(each.join(' UNION ALL ')))
      found.get(String(name))?.push(JSON.stringify([row]));
    return found;
  }

  async #tables(): Promise<readonly string[]> {
    const dialects = [
      `SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`,
      `SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'`,
    ];
    for (const sql of dialects) {
      try {
        return (await this.#query(sql)).map(([name]) => String(name)).toSorted();
      } catch {
        // The query is for the other kind of database.
      }
    }
    throw new Error('no table can be found');
  }

  async #query(sql: string): Promise<readonly Row[]> {
    return this.gatehouse.app.context.store.queries.all(sql);
  }
}

function rowsOf(table: string): string {
  return inForce.get(table) ?? `SELECT * FROM ${table}`;
}

const isShown = 'EXISTS (SELECT 1 FROM ip_policies WHERE rule_set = set_id)';
/** Statements that leave out sets of rules which no policy names: they are deleted some time later, and count until then. */
const inForce: ReadonlyMap<string, string> = new Map([
  ['ip_policy_rule_rows', `SELECT * FROM ip_policy_rule_rows WHERE ${isShown}`],
  [
    'account_usage',
    `SELECT account_id, quota, most, is_own, used - CASE quota WHEN 'ip_policy_rules' THEN
       (SELECT count(*) FROM ip_policy_rule_rows r WHERE r.account_id = account_usage.account_id AND NOT ${isShown})
     ELSE 0 END FROM account_usage`,
  ],
]);

/** Tables of observations: written without a version, some time after the call that they come from. */
const observations: ReadonlySet<string> = new Set([
  'agent_commands',
  'api_key_uses',
  'configuration_names',
  'configuration_earlier_names',
  'app_sessions',
  'app_users',
  'dashboard_sessions',
  'ip_policy_rule_sets',
  'ip_restriction_warning_slots',
  'ip_restriction_warnings',
  'alert_lease',
  'event_deliveries',
  'event_lease',
  'observed_changes',
  'observed_version',
  'processes',
  'tunnel_claims',
  'tunnel_sessions',
  'tunnels',
]);

async function createUser(gatehouse: Gatehouse, values: Readonly<Record<string, string>>): Promise<string> {
  const printed = await hostCommand(gatehouse, 'users create', values);
  const [, token] = /token \(shown once\): (\S+)/.exec(printed) ?? [];
  assert.ok(token, printed);
  return token;
}

function hostCommand(gatehouse: Gatehouse, name: string, values: Readonly<Record<string, string>>): Promise<string> {
  const command = resources.flatMap(({ hostCommands = [] }) => hostCommands).find((each) => each.name === name);
  assert.ok(command, `there is no command ${name}`);
  return command.run(gatehouse.app.context, values);
}
