import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { failAt } from '../../support/database-faults.ts';
import { onEachDatabase } from '../../support/each-database.ts';
import { Gatehouse } from '../../support/gatehouse.ts';
import { childrenOf } from './support/child-processes.ts';
import { SignInSite, start } from './support/sign-in-site.ts';
import { siteHost } from './support/site.ts';
import { until } from './support/until.ts';

const rounds = 3;
const gateway = { role: 'gateway', workers: 'off', httpsListen: '127.0.0.1:0', drainSeconds: '0' };

/** A provider that gives a new refresh token with each use, and ends the login where an old one comes again. */
onEachDatabase('checks of logins by several workers and gateways', (newDatabase) => {
  suite('over one database', () => {
    let at: SignInSite;
    let other: Gatehouse;
    let databaseUrl: string;
    let earlier: ReadonlySet<number>;
    before(async () => {
      databaseUrl = await newDatabase();
      earlier = new Set(await childrenOf(process.pid));
      at = await SignInSite.start({ workers: '2' }, databaseUrl);
      other = await Gatehouse.start(databaseUrl, gateway);
    });
    after(async () => {
      await other[Symbol.asyncDispose]();
      await at[Symbol.asyncDispose]();
    });

    for (const workers of ['off', '2'])
      test(`a sign-out is written when it is answered, workers ${workers}`, async () => {
        await using own = workers === 'off' ? await SignInSite.start({ workers }, await newDatabase()) : undefined;
        const here = own ?? at;
        await here.put();
        const { queries } = here.site.gatehouse.app.context.store;
        for (let round = 0; round < rounds; round++) {
          const one = await here.signedIn();
          await one.ask(`${start}.gatehouse/sign-out`, { headers: { 'sec-fetch-site': 'same-origin' } });
          const [[count] = []] = await queries.all('SELECT COUNT(*) FROM ended_app_sessions', []);
          assert.equal(Number(count), round + 1);
          await here.sessionsAre(0);
        }
      });

    test('who is deleted is out in every worker and at every gateway', async () => {
      const { gatehouse, httpsPort } = at.site;
      await at.put();
      const [one, two, stranger] = [await at.signedIn('ada'), await at.signedIn('ada'), await at.signedIn('eve')];
      const statuses = async (visitor: typeof one, port: number) => {
        const answers = await Promise.all(
          Array.from({ length: 8 }, async () => {
            const copy = Object.assign(at.visitor(), { ports: { [siteHost]: port } });
            copy.cookies.set(siteHost, new Map(visitor.cookies.get(siteHost)));
            return (await copy.ask(start)).status;
          }),
        );
        return [...new Set(answers)];
      };
      await until(
        async () => (await statuses(one, other.httpsPort)).join() === '200',
        'the other gateway has the edge',
      );
      await at.sessionsAre(3);
      const users = (await gatehouse.get('/app/users')).body.application_users as {
        id: string;
        provider_user_id: string;
      }[];
      const ada = users.find(({ provider_user_id: id }) => id === 'ada')!;
      assert.equal((await gatehouse.delete(`/app/users/${ada.id}`)).status, 204);
      for (const visitor of [one, two]) {
        assert.deepEqual(await statuses(visitor, httpsPort), [302], 'at once');
        await until(async () => (await statuses(visitor, other.httpsPort)).join() === '302', 'at the other gateway');
      }
      assert.deepEqual(await statuses(stranger, httpsPort), [200], 'nobody else');
      await sleep(1_100);
      const again = await at.signedIn('ada');
      for (const port of [httpsPort, other.httpsPort]) assert.deepEqual(await statuses(again, port), [200]);
    });

    test('what one gateway hears of a visitor holds at the others', async () => {
      await at.put({ auth_check_interval: 1, email_domains: ['partner.example'] });
      const { people } = at.provider;
      const one = await at.signedIn('bob');
      people['bob'] = { ...people['bob'], email: 'bob@elsewhere.example' };
      const kept = new Map(one.cookies.get(siteHost));
      await until(async () => {
        // Each time as if the browser had got no new cookie.
        one.cookies.set(siteHost, new Map(kept));
        const answers = await Promise.all(Array.from({ length: 6 }, () => one.ask(start)));
        return answers.every(({ status }) => status === 403);
      }, 'every worker refuses');
      delete people['bob'];
      await until(async () => {
        one.cookies.set(siteHost, new Map(kept));
        const answers = await Promise.all(Array.from({ length: 6 }, () => one.ask(start)));
        return answers.every(({ status }) => status === 302);
      }, 'the session is over at every worker');
    });

    test('each token is sent once: visitors stay signed in at all of them, and over a restart', async () => {
      at.provider.rotatesRefreshTokens = true;
      await at.put({ auth_check_interval: 1 });
      const one = await at.signedIn();
      const [name, first] = [...one.cookies.get(siteHost)!].find(([each]) => each.includes('visitor'))!;
      /** Asks many at once, with the newest cookie or the first, whose successors were lost. */
      const askAll = async (ports: readonly number[], cookie: string): Promise<readonly number[]> => {
        const answers = await Promise.all(
          Array.from({ length: 12 }, async (_, index) => {
            const copy = atPort(ports[index % ports.length] ?? 0);
            copy.cookies.set(siteHost, new Map([[name, cookie]]));
            const { status } = await copy.ask(start);
            return [status, copy.cookie(siteHost, 'visitor') ?? ''] as const;
          }),
        );
        newest = answers.findLast(([, value]) => value !== cookie)?.[1] ?? newest;
        return answers.map(([status]) => status);
      };
      const atPort = (port: number) => Object.assign(at.visitor(), { ports: { [siteHost]: port } });
      let newest = one.cookie(siteHost, 'visitor') ?? '';
      const all200 = Array.from({ length: 12 }, () => 200);
      const asked = () => at.provider.asked.get('/token') ?? 0;
      {
        await using _ = other;
        const ports = [at.site.httpsPort, other.httpsPort];
        await until(async () => (await atPort(other.httpsPort).ask(start)).status === 302, 'the other has the edge');
        for (let round = 0; round < rounds; round++) {
          const sent = asked();
          await sleep(1_100);
          assert.deepEqual(await askAll(ports, newest), all200, `round ${round}`);
          assert.ok(asked() > sent, 'a check was made');
        }
        assert.deepEqual(await askAll(ports, first), all200, 'the cookie of the login');
      }
      await using restarted = await Gatehouse.start(databaseUrl, gateway);
      await until(async () => (await atPort(restarted.httpsPort).ask(start)).status === 302, 'it has the edge');
      await sleep(1_100);
      assert.deepEqual(await askAll([restarted.httpsPort], first), all200, 'after a restart');
      assert.deepEqual(await askAll([at.site.httpsPort], newest), all200);
    });

    // Last: it kills the workers, and the database is away for all of this process.
    test('a sign-out holds in every worker while the database is away, and in those that start later', async () => {
      const workers = async () => (await childrenOf(process.pid)).filter((pid) => !earlier.has(pid));
      await at.put();
      const [one, stranger] = [await at.signedIn('ada'), await at.signedIn('eve')];
      const cookies = new Map(one.cookies.get(siteHost));
      const askCopies = async () => {
        const copies = Array.from({ length: 24 }, () => at.visitor());
        for (const copy of copies) copy.cookies.set(siteHost, new Map(cookies));
        const answers = await Promise.all(copies.map((copy) => copy.ask(start)));
        return [...new Set(answers.map(({ status }) => status))];
      };
      assert.deepEqual(await askCopies(), [200]);
      using fault = failAt(1, 'lost', true);
      const seen = await one.ask(`${start}.gatehouse/sign-out`, { headers: { 'sec-fetch-site': 'same-origin' } });
      assert.equal(seen.status, 200, seen.text);
      assert.ok(fault.failed.length > 0);
      assert.deepEqual(await askCopies(), [302]);
      const killed = await workers();
      assert.equal(killed.length, 2);
      for (const pid of killed) process.kill(pid, 'SIGKILL');
      await until(async () => {
        const now = await workers();
        return now.length === 2 && !now.some((pid) => killed.includes(pid));
      }, 'other workers');
      await until(async () => (await stranger.ask(start)).status === 200, 'they serve');
      assert.deepEqual(await askCopies(), [302], 'in the new worker');
      assert.equal((await stranger.ask(start)).status, 200, 'nobody else');
    });
  });
});
