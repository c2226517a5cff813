import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { AcmeManager } from '../../src/acme/manager.ts';
import { newId } from '../../src/lib/ids.ts';
import { acmeStorage } from '../../src/resources/acme/service.ts';
import { keyUses } from '../../src/resources/api-keys/service.ts';
import { ruleSets } from '../../src/resources/ip-policy-rules/service.ts';
import { warnings } from '../../src/resources/ip-restrictions/service.ts';
import { createProcesses } from '../../src/resources/processes/registry.ts';
import { Services } from '../../src/resources/services.ts';
import { CertificateEnds } from '../../src/resources/tls-certificates/certificate-ends.ts';
import { agentTunnels } from '../../src/resources/tunnels/service.ts';
import { tunnelClaims, tunnels, tunnelSessions } from '../../src/resources/tunnels/table.ts';
import type { Tunnel, TunnelClaim, TunnelSession } from '../../src/resources/tunnels/table.ts';
import { AccessTable } from '../../src/snapshot/access.ts';
import { StoreUnavailableError } from '../../src/store/database.ts';
import { parseIp } from '../../src/lib/ip/address.ts';
import { keepChangeLogShort } from '../../src/store/write/keep-change-log-short.ts';
import { until } from '../e2e/gateway/support/until.ts';
import { makePair } from '../support/certificate-pair.ts';
import { failAt, ofTest } from '../support/database-faults.ts';
import type { Fault } from '../support/database-faults.ts';
import { onEachDatabase } from '../support/each-database.ts';
import { Gatehouse } from '../support/gatehouse.ts';
import { isLong } from '../support/long-form.ts';
import { decide } from '../support/sample.ts';
import { SmallAuthority } from '../support/small-authority.ts';

/** One task with its own piece of work. */
interface Task {
  /** Runs until the task has done its work, or has met a fault. */
  run(): PromiseLike<unknown>;
  isDone(): Promise<boolean>;
  /** In the usual form, only one in so many statements fails. */
  readonly everyNth?: number;
}

/** More statements than any task has. */
const statementLimit = 1_000;

onEachDatabase('a database that fails in the middle of a task in the background', (newDatabase) => {
  let gatehouse: Gatehouse;
  let authority: SmallAuthority;
  before(async () => {
    authority = await SmallAuthority.start();
    gatehouse = await Gatehouse.start(await newDatabase());
  });
  after(async () => {
    await gatehouse[Symbol.asyncDispose]();
    authority[Symbol.dispose]();
  });

  const store = () => gatehouse.app.context.store;
  const services = () => gatehouse.app.context.services;
  const count = async (table: string, condition = '1 = 1', values: readonly (string | number)[] = []) =>
    Number((await store().queries.all(`${ofTest} SELECT COUNT(*) FROM ${table} WHERE ${condition}`, values))[0]?.[0]);

  const accountId = async () => String((await store().queries.all(`${ofTest} SELECT MIN(id) FROM accounts`))[0]?.[0]);

  const tasks: Readonly<Record<string, () => Promise<Task>>> = {
    'rules that no policy has are deleted': async () => {
      const set = Math.floor(Math.random() * 2 ** 40);
      await store().writeUnlogged(async (writer) => {
        await writer.run('INSERT INTO ip_policy_rule_sets (set_id, delete_after) VALUES ($1, $2)', [set, '']);
        const sql = `INSERT INTO ip_policy_rule_rows (id, account_id, document, cidr, action, set_id)
                     SELECT $1, MIN(id), '{}', $2, 'allow', CAST($3 AS BIGINT) FROM accounts`;
        for (const octet of [1, 2]) await writer.run(sql, [`ipr_${set}_${octet}`, `10.0.0.${octet}/32`, set]);
      });
      const left = async () =>
        (await count('ip_policy_rule_sets', 'set_id = $1', [set])) +
        (await count('ip_policy_rule_rows', 'set_id = $1', [set]));
      return {
        run: async () => {
          services().get(ruleSets).look();
        },
        isDone: async () => (await left()) === 0,
        everyNth: 3,
      };
    },
    'uses of keys are written': async () => {
      const { id } = await gatehouse.create('/api_keys');
      services().get(keyUses).note(id);
      return {
        run: () => services().get(keyUses).flush(),
        isDone: async () => (await count('api_key_uses', 'key_id = $1', [id])) === 1,
      };
    },
    'warnings are written, or lost': async () => {
      const { id: policy } = await gatehouse.create('/ip_policies');
      const { id } = await gatehouse.create('/ip_restrictions', {
        type: 'endpoints',
        enforced: false,
        ip_policy_ids: [policy],
      });
      const source = parseIp('192.0.2.7');
      assert.ok(source);
      return {
        run: () => {
          services().get(warnings).warned([id], source);
          return services().get(warnings).flush();
        },
        isDone: async () => (await count('ip_restriction_warning_slots', 'restriction_id = $1', [id])) > 0,
        everyNth: 4,
      };
    },
    'old changes are deleted': async () => {
      await gatehouse.create('/ip_policies');
      const isDone = async () => (await count('change_log')) === 0;
      return {
        run: async () => {
          let isFailed = false;
          // All that has happened is older than tomorrow.
          await using _ = keepChangeLogShort(store(), -1, { error: () => (isFailed = true) });
          await until(async () => isFailed || (await isDone()), 'it is done, or has failed');
        },
        isDone,
        everyNth: 3,
      };
    },
    'sessions that this process does not hold are removed': async () => {
      const processId = newId('test');
      const account = await accountId();
      await store().writeUnlogged(async (writer) => {
        const claim: TunnelClaim = {
          ...tunnelClaims.newDocument(account),
          kind: 'labels',
          key: processId,
          client_id: 'one',
          url: '',
          hostname: null,
          port: null,
          labels: { a: 'b' },
          modules: {},
          proxy_proto: 0,
          held_until_ms: null,
        };
        const session: TunnelSession = {
          ...tunnelSessions.newDocument(account),
          process_id: processId,
          client_id: 'one',
          credential_id: 'cr_1',
          agent_version: '1',
          ip: '192.0.2.7',
          metadata: '',
          os: 'linux',
        };
        const tunnel: Tunnel = {
          ...tunnels.newDocument(account),
          session_id: session.id,
          claim_id: claim.id,
          process_id: processId,
          client_id: 'one',
          proto: '',
          url: '',
          labels: { a: 'b' },
          forwards_to: '',
          forwards_proto: '',
          metadata: '',
          name: '',
          description: '',
          pooling_enabled: false,
        };
        await tunnelClaims.insertMany(writer, [claim]);
        await tunnelSessions.insertMany(writer, [session]);
        await tunnels.insertMany(writer, [tunnel]);
      });
      const left = async () =>
        (await count('tunnel_sessions', 'process_id = $1', [processId])) +
        (await count('tunnel_claims', 'claim_key = $1', [processId]));
      const isDone = async () => (await left()) === 0;
      return {
        run: async () => {
          let isFailed = false;
          const nothing = () => {};
          const log = { debug: nothing, info: nothing, error: () => (isFailed = true) };
          // No agent connects to it.
          await using _ = services()
            .get(agentTunnels)
            .openHost({
              processId,
              access: new AccessTable(),
              log,
              compareMs: 50,
              nameMs: 0,
              sessionsPerCredential: 1,
              servesHttps: false,
              warned: nothing,
              refused: nothing,
              sessionsReached: nothing,
              answerGuess: (fault) => Promise.reject(fault),
            });
          await until(async () => isFailed || (await isDone()), 'it is done, or has failed');
        },
        isDone,
        everyNth: 4,
      };
    },
    'ends of certificates are read': async () => {
      const pair = makePair('ends', '-subj', '/CN=ends.test', '-days', '300');
      const { id } = await gatehouse.create('/tls_certificates', pair);
      const ends = new CertificateEnds(store());
      return {
        run: () => store().followFromStart(ends),
        isDone: async () => ends.first(1_000).some(([each]) => each === id),
      };
    },
    'a certificate is ordered, and installed': async () => {
      await store().writeUnlogged((writer) => writer.run(`${ofTest} DELETE FROM acme_lease`));
      const hostname = `n${Math.floor(Math.random() * 2 ** 40)}.gatehouse-app.net`;
      const wanted = { accountId: await accountId(), hostname, keyType: 'ecdsa', isManaged: true } as const;
      const isDone = async () =>
        (await count('acme_jobs', `hostname = $1 AND document LIKE '%certificateId%'`, [hostname])) === 1;
      return {
        run: async () => {
          let isFailed = false;
          const nothing = () => {};
          await using manager = new AcmeManager({
            storage: services().get(acmeStorage),
            hook: undefined,
            challenges: [],
            ordersPerHour: 10_000,
            keepMs: 86_400_000,
            authority: { directory: authority.directory, email: undefined, externalAccount: undefined },
            look: async () => ({ wanted: [wanted], certificates: [], accounts: 1 }),
            isOutage: (error) => error instanceof StoreUnavailableError,
            log: { info: nothing, warn: nothing, error: () => (isFailed = true) },
            onOrder: nothing,
          });
          manager.start();
          await until(async () => isFailed || (await isDone()), 'it is done, or has failed');
        },
        isDone,
        everyNth: 25,
      };
    },
    'a process is registered, and removed': async () => {
      const registry = createProcesses(store(), new Services(), { beatMs: 3_600_000, followMs: 0 });
      const earlier = await count('processes');
      return {
        run: async () => {
          await using registration = await registry.register({ listeners: [] });
          registration.reportWith(() => ({ configurationVersion: 0, unopenedPorts: [] }));
        },
        isDone: async () => (await count('processes')) <= earlier + 1,
        everyNth: 4,
      };
    },
  };

  for (const fault of ['lost', 'unanswered'] as const) {
    describe(fault, () => {
      for (const [name, prepare] of Object.entries(tasks)) {
        test(`${name}, when the database answers again`, async (t) => {
          t.diagnostic(`${await failAtEachStatement(name, prepare, fault)} faults`);
        });
      }
    });
  }

  async function failAtEachStatement(name: string, prepare: () => Promise<Task>, fault: Fault): Promise<number> {
    for (let statement = 0, faultCount = 0; statement < statementLimit; faultCount++) {
      const task = await prepare();
      const step = isLong ? 1 : (task.everyNth ?? 1);
      statement += statement === 0 ? 1 + decide(step, ['first statement of a task that fails', name, fault]) : step;
      using faults = failAt(statement, fault, false);
      await runOnce(task);
      // Some tasks go on by themselves.
      await until(async () => faults.failed.length > 0 || (await task.isDone()), 'it is done, or has failed');
      const [failed] = faults.end();
      await until(
        async () => {
          if (await task.isDone()) return true;
          await runOnce(task);
          return false;
        },
        `it is done after ${failed ?? 'no fault'}`,
      );
      assert.equal((await gatehouse.get('/ip_policies?limit=1')).status, 200);
      if (failed === undefined) return faultCount;
    }
    throw new Error(`more than ${statementLimit} statements`);
  }
});

/** A fault is the business of the task. */
async function runOnce(task: Task): Promise<void> {
  try {
    await task.run();
  } catch {
    // The next run makes up for it.
  }
}
