import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createAccount, createUser } from '../../../test/support/people.ts';
import type { Person } from '../../../test/support/people.ts';
import { refuses } from '../../../test/support/refusals.ts';
import { onEachGatehouse } from '../../../test/support/shared-gatehouse.ts';

const path = '/configuration';

interface Entry {
  readonly kind: string;
  readonly name: string;
  readonly [field: string]: unknown;
}

interface Step {
  readonly action: string;
  readonly kind: string;
  readonly name: string;
  readonly id: string | null;
  readonly fields: readonly { readonly field: string; readonly before: unknown; readonly after: unknown }[];
}

onEachGatehouse(
  'configurations',
  (g) => {
    let hosts = 0;
    let ports = 10_000;
    const newHost = () => `host-${(hosts += 1)}.example.com:443`;
    const newPort = () => (ports += 1);
    const newAccount = async () => {
      const account = await createAccount(g());
      return { account, admin: await createUser(g(), 'admin', account) };
    };
    const newAdmin = async (): Promise<Person> => (await newAccount()).admin;
    const apply = async (entries: unknown, person: Person, query = '') => {
      const answer = await g().post(`${path}${query}`, entries, person);
      assert.equal(answer.status, 200, answer.text);
      return answer.body;
    };
    const read = async (person: Person): Promise<readonly Entry[]> => (await g().get(path, person)).body.entries;
    const idsOf = ({ steps }: { steps: readonly Step[] }) => new Map(steps.map(({ name, id }) => [name, id]));

    /** One of every kind, in the order and form in which they are read back. */
    const everyKind = (): readonly Entry[] => {
      const port = newPort();
      const domain = `own-${(hosts += 1)}.example.com`;
      return [
        {
          kind: 'ip_policies',
          name: 'office',
          description: 'The office',
          metadata: '{"a":1}',
          rules: ['10.0.0.0/8', '!10.1.0.0/16', { cidr: '192.0.2.0/24', action: 'deny', description: 'lab' }],
        },
        { kind: 'ip_restrictions', name: 'agents', type: 'agent', enforced: true, ip_policies: ['office'] },
        { kind: 'static_backends', name: 'app', address: 'app:80', tls: { enabled: true } },
        { kind: 'tunnel_group_backends', name: 'shop', labels: { app: 'shop' } },
        {
          kind: 'tcp_edges',
          name: 'ssh',
          hostports: [`tcp.example.com:${port}`],
          ip_restriction: { ip_policies: ['office'] },
          backend: { enabled: false, backend: 'app' },
        },
        {
          kind: 'https_edges',
          name: 'web',
          description: 'The shop',
          hostports: [newHost()],
          routes: {
            '/': { backend: { backend: 'app' }, request_headers: { add: { 'x-a': '1' } }, compression: {} },
            '/api': { description: 'api', match_type: 'exact_path', backend: { backend: 'shop' } },
          },
        },
        { kind: 'reserved_domains', name: 'own', domain },
        { kind: 'reserved_addrs', name: 'ssh-port', port },
        {
          kind: 'cloud_endpoints',
          name: 'front',
          url: `https://${domain}`,
          traffic_policy: '{"on_http_request":[{"actions":[{"type":"deny"}]}]}',
          pooling_enabled: true,
        },
        { kind: 'vaults', name: 'keys', vault: 'payments/prod' },
      ];
    };

    test('every kind is created in any order, and read back as it was sent', async () => {
      const admin = await newAdmin();
      const entries = everyKind();
      const body = await apply(entries.toReversed(), admin);
      assert.deepEqual([body.created, body.changed, body.deleted, body.unchanged], [10, 0, 0, 0]);
      const ids = idsOf(body);
      const edge = (await g().get(`/edges/https/${ids.get('web')}`, admin)).body;
      assert.deepEqual(edge.routes.map(({ match }: { match: string }) => match).toSorted(), ['/', '/api']);
      const [restriction] = (await g().get('/ip_restrictions', admin)).body.ip_restrictions;
      assert.deepEqual([restriction.id, restriction.ip_policies[0].id], [ids.get('agents'), ids.get('office')]);
      assert.deepEqual(await read(admin), entries);
    });

    test('names are told with the ids of their resources, and only those of the account', async () => {
      const [admin, other] = [await newAdmin(), await newAdmin()];
      const policy = await g().create('/ip_policies', { description: 'Offices' }, admin);
      const edge = await g().create('/edges/https', { hostports: [newHost()], description: 'Shop' }, admin);
      const named = { ip_policies: policy.id, https_edges: edge.id };
      const { status, body } = await g().get(`${path}/names`, admin);
      assert.equal(status, 200);
      assert.deepEqual(Object.fromEntries(body.names.map(({ kind, id }: Step) => [kind, id])), named);
      const shown = (await read(admin)).map(({ kind, name }) => `${kind} ${name}`);
      assert.deepEqual(
        body.names.map(({ kind, name }: Step) => `${kind} ${name}`),
        shown,
      );
      assert.deepEqual((await g().get(`${path}/names`, other)).body, { names: [] });
    });

    test('twice changes nothing, whoever applies', async () => {
      const { account, admin } = await newAccount();
      const entries = everyKind();
      await apply(entries, admin);
      const { version } = g().app.context.store;
      for (const person of [admin, await createUser(g(), 'member', account)]) {
        const before = g().app.context.store.version;
        const again = await apply(entries, person);
        assert.deepEqual([again.created, again.changed, again.deleted, again.unchanged], [0, 0, 0, 10]);
        assert.equal(g().app.context.store.version, before);
      }
      assert.ok(g().app.context.store.version >= version);
    });

    test('every kind is changed field by field, and keeps its id', async () => {
      const admin = await newAdmin();
      const entries = everyKind();
      const ids = idsOf(await apply(entries, admin));
      const changes: Readonly<Record<string, object>> = {
        office: { rules: ['10.0.0.0/8'], description: undefined },
        agents: { enforced: false },
        app: { address: 'other:80', tls: undefined },
        shop: { labels: { app: 'shop', region: 'eu' } },
        ssh: { ip_restriction: undefined },
        web: { routes: { '/': { backend: { backend: 'shop' } }, '/new': {} } },
        own: { description: 'ours' },
        'ssh-port': { description: 'ours' },
        front: {
          traffic_policy: 'on_http_request: [{ actions: [{ type: close-connection }] }]\n',
          pooling_enabled: undefined,
        },
        keys: { vault: 'payments/test' },
      };
      const changed = entries.map((entry): Entry => ({ ...entry, ...changes[entry.name] }));
      const { admits_new: _admitted, ...planned } = await apply(changed, admin, '?dry_run=true');
      const body = await apply(changed, admin);
      assert.equal(body.changed, 10);
      assert.deepEqual(planned, { ...body, dry_run: true });
      for (const step of body.steps as Step[]) assert.equal(step.id, ids.get(step.name));
      const fields = (name: string) => (body.steps as Step[]).find((step) => step.name === name)?.fields;
      assert.deepEqual(fields('app'), [
        { field: 'address', before: 'app:80', after: 'other:80' },
        { field: 'tls', before: { enabled: true }, after: null },
      ]);
      assert.deepEqual(
        fields('office')?.find(({ field }) => field === 'rules'),
        {
          field: 'rules',
          before: ['!10.1.0.0/16', { cidr: '192.0.2.0/24', action: 'deny', description: 'lab' }],
          after: [],
        },
      );
      assert.deepEqual(
        fields('web')?.map(({ field }) => field),
        ['routes./.backend', 'routes./.request_headers', 'routes./.compression', 'routes./api', 'routes./new'],
      );
      const wanted = changed.map((entry) =>
        JSON.parse(JSON.stringify({ ...entry, ...(entry.name === 'agents' ? { enforced: undefined } : {}) })),
      );
      assert.deepEqual(await read(admin), wanted);
    });

    test('only what is declared is touched, and prune deletes the rest', async () => {
      const admin = await newAdmin();
      const entries = everyKind();
      await apply(entries, admin);
      assert.equal((await apply([], admin)).deleted, 0);
      const [policy] = entries;
      const pruned = await apply([policy], admin, '?prune=true');
      assert.deepEqual([pruned.deleted, pruned.unchanged], [9, 1]);
      assert.deepEqual(await read(admin), [policy]);
    });

    test('a policy whose rules are not declared keeps them', async () => {
      const admin = await newAdmin();
      await apply([{ kind: 'ip_policies', name: 'a', rules: ['10.0.0.0/8'] }], admin);
      for (const query of ['?dry_run=true', '']) {
        const { steps } = await apply([{ kind: 'ip_policies', name: 'a', description: 'new' }], admin, query);
        const fields = (steps as Step[]).flatMap((step) => step.fields);
        assert.deepEqual(fields, [{ field: 'description', before: null, after: 'new' }]);
      }
      const same = await apply([{ kind: 'ip_policies', name: 'a', description: 'new' }], admin);
      assert.deepEqual([same.unchanged, same.steps], [1, []]);
      const kept = [{ kind: 'ip_policies', name: 'a', description: 'new', rules: ['10.0.0.0/8'] }];
      assert.deepEqual(await read(admin), kept);
      await apply([{ kind: 'ip_policies', name: 'a', rules: [] }], admin);
      assert.deepEqual(await read(admin), [{ kind: 'ip_policies', name: 'a', rules: [] }]);
    });

    test('a dry run tells what would be, and changes nothing', async () => {
      const admin = await newAdmin();
      const { version } = g().app.context.store;
      const body = await apply(everyKind(), admin, '?dry_run=true');
      assert.deepEqual([body.dry_run, body.created], [true, 10]);
      assert.ok((body.steps as Step[]).every(({ id }) => id === null));
      assert.equal(g().app.context.store.version, version);
      assert.deepEqual(await read(admin), []);
    });

    test('two edges swap their host names, and others their ports', async () => {
      const admin = await newAdmin();
      const [first, second, one, two] = [newHost(), newHost(), `a:${newPort()}`, `a:${newPort()}`];
      const edges = (a: string, b: string, c: string, d: string) => [
        { kind: 'tcp_edges', name: 'c', hostports: [c] },
        { kind: 'tcp_edges', name: 'd', hostports: [d] },
        { kind: 'https_edges', name: 'a', hostports: [a] },
        { kind: 'https_edges', name: 'b', hostports: [b] },
      ];
      await apply(edges(first, second, one, two), admin);
      assert.equal((await apply(edges(second, first, two, one), admin)).changed, 4);
      assert.deepEqual(await read(admin), edges(second, first, two, one));
    });

    test('an edge takes the host name of one that is pruned', async () => {
      const admin = await newAdmin();
      const hostports = [newHost()];
      await apply([{ kind: 'https_edges', name: 'old', hostports }], admin);
      const body = await apply([{ kind: 'https_edges', name: 'new', hostports }], admin, '?prune=true');
      assert.deepEqual([body.created, body.deleted], [1, 1]);
    });

    test('a fault at any position and of any kind changes nothing, and names its place', async () => {
      const admin = await newAdmin();
      const good = everyKind();
      const bad: Readonly<Record<string, readonly [object, number, number]>> = {
        ip_policies: [{ rules: ['10.0.0.1/8'] }, 400, 1409],
        ip_restrictions: [{ ip_policies: ['none'] }, 400, 20213],
        static_backends: [{ address: ':1' }, 400, 6507],
        tunnel_group_backends: [{ labels: {} }, 400, 20091],
        tcp_edges: [{ hostports: ['a:1'] }, 400, 20014],
        https_edges: [{ routes: { nothing: {} } }, 400, 7131],
        reserved_domains: [{ domain: 'a b' }, 400, 0],
        reserved_addrs: [{ port: 1 }, 400, 20218],
        cloud_endpoints: [{ traffic_policy: '{}' }, 400, 18002],
        vaults: [{ vault: 'a b' }, 400, 23000],
      };
      for (const [at, entry] of good.entries()) {
        const [fault, status, code] = bad[entry.kind] ?? [{}, 0, 0];
        const entries = good.with(at, { ...entry, ...fault });
        const { version } = g().app.context.store;
        for (const query of ['', '?dry_run=true']) {
          const answer = await g().post(`${path}${query}`, entries, admin);
          assert.equal(answer.status, status, answer.text);
          if (code > 0) assert.equal(answer.body.error_code, `ERR_GATEHOUSE_${code}`, answer.text);
          assert.ok(answer.body.msg.includes(`${entry.kind} "${entry.name}": `), answer.body.msg);
        }
        assert.equal(g().app.context.store.version, version);
        assert.deepEqual(await read(admin), []);
      }
    });

    test('what the schema refuses is named by entry and field', async () => {
      const admin = await newAdmin();
      const app = { kind: 'static_backends', name: 'app', address: 'a:1' };
      const refusals = [
        [{ ...app, address: undefined }, 400, 6505, /static_backends "app": .* needs an address/],
        [{ ...app, adress: 'a:1' }, 400, 214, /static_backends "app": .*"adress"/],
        [{ ...app, tls: { enabled: 'yes' } }, 400, 215, /static_backends "app": .*"tls.enabled"/],
        [{ ...app, name: 'no blanks' }, 400, 215, /"no blanks": .*"name"/],
        [{ ...app, kind: 'backends' }, 400, 215, /backends "app": .*"kind".*is "backends", where one of these/],
        [{ kind: 'tls_certificates', name: 'x' }, 400, 215, /tls_certificates "x": .*"kind".*one of these belongs: /],
        [{ kind: 'ip_policys', name: 'x' }, 400, 215, /is "ip_policys" \(did you mean "ip_policies"\?\), where one of/],
        ['app', 400, 215, /entry 2/],
      ] as const;
      for (const [entry, status, code, words] of refusals) {
        const answer = await g().post(path, [{ ...app, name: 'first' }, entry], admin);
        assert.equal(answer.status, status, answer.text);
        assert.match(answer.body.msg, words);
        assert.equal(answer.body.error_code, `ERR_GATEHOUSE_${code}`, answer.text);
      }
      const several = [{ kind: 'ip_policys', name: 'a' }, app, { kind: 'static_backends', name: 'b', adress: 'a:1' }];
      const lines = (await refuses(g(), ['POST', path, several, admin], 400, 215)).split('\n');
      assert.match(lines[0] ?? '', /^entry 1, ip_policys "a": /);
      assert.match(lines[1] ?? '', /^entry 3, static_backends "b": Unknown field "adress"\. Did you mean "address"/);
      assert.equal(lines.length, 2);
      const twice = [app, { kind: 'tunnel_group_backends', name: 'app', labels: { a: 'b' } }];
      assert.match(
        await refuses(g(), ['POST', path, twice, admin], 400, 20212),
        /static_backends "app" and tunnel_group_backends "app"/,
      );
      await apply([app], admin);
      await refuses(g(), ['POST', path, [twice[1]], admin], 409, 20214);
      await refuses(g(), ['POST', `${path}?dry_run=yes`, [], admin], 400, 215);
    });

    test('what is fixed after creation is not changed, and what is in use not deleted', async () => {
      const admin = await newAdmin();
      const entries = everyKind();
      await apply(entries, admin);
      const entry = (kind: string) => entries.find((each) => each.kind === kind);
      await refuses(g(), ['POST', path, [{ ...entry('ip_restrictions'), type: 'endpoints' }], admin], 409, 20210);
      await refuses(
        g(),
        ['POST', path, [{ ...entry('reserved_domains'), domain: 'x.example.com' }], admin],
        409,
        20215,
      );
      await refuses(g(), ['POST', path, [{ ...entry('reserved_addrs'), port: newPort() }], admin], 409, 20216);
      const withoutApp = entries.filter(({ name }) => name !== 'app');
      const message = await refuses(g(), ['POST', `${path}?prune=true`, withoutApp, admin], 409, 20013);
      assert.match(message, /^static_backends "app": /);
    });

    test('names are made from what a resource says, remembered, and dropped with it', async () => {
      const admin = await newAdmin();
      const made = await g().create('/ip_policies', { description: 'Büro (Berlin)' }, admin);
      await g().create('/ip_policies', { description: 'Büro (Berlin)' }, admin);
      await g().create('/edges/https', { hostports: [newHost()] }, admin);
      await g().create('/edges/tcp', {}, admin);
      const names = async () => (await read(admin)).map(({ name }) => name);
      assert.deepEqual(await names(), ['buro-berlin', 'buro-berlin-2', 'tcp-edge', `host-${hosts}.example.com`]);
      await g().patch(`/ip_policies/${made.id}`, { description: 'Paris' }, admin);
      assert.deepEqual((await names()).slice(0, 2), ['buro-berlin', 'buro-berlin-2']);
      await g().delete(`/ip_policies/${made.id}`, admin);
      const body = await apply([{ kind: 'ip_policies', name: 'buro-berlin' }], admin);
      assert.equal(body.created, 1);
      assert.notEqual(body.steps[0].id, made.id);
    });

    test('If-Match names the state that the caller has seen', async () => {
      const admin = await newAdmin();
      const app = { kind: 'static_backends', name: 'app', address: 'a:1' };
      const tag = (await g().get(path, admin)).headers.get('etag') ?? '';
      const planned = await g().post(`${path}?dry_run=true`, [app], admin);
      assert.equal(planned.headers.get('etag'), tag);
      const withTag = { ...admin, headers: { 'if-match': tag } };
      assert.equal((await g().post(path, [app], withTag)).status, 200);
      await refuses(g(), ['POST', path, [{ ...app, address: 'b:1' }], withTag], 412, 20020);
    });

    test('members apply what they may change by single calls, and no more', async () => {
      const { account, admin } = await newAccount();
      const member = await createUser(g(), 'member', account);
      const policy = { kind: 'ip_policies', name: 'api', rules: ['0.0.0.0/0', '::/0'] };
      const restriction = { kind: 'ip_restrictions', name: 'api', type: 'api', enforced: true, ip_policies: ['api'] };
      await refuses(g(), ['POST', path, [policy, restriction], member], 403, 20007);
      await apply([policy, restriction], admin);
      await refuses(g(), ['POST', path, [{ ...policy, rules: ['0.0.0.0/0'] }], member], 403, 20067);
      await refuses(g(), ['POST', `${path}?prune=true`, [policy], member], 403, 20007);
      assert.equal((await apply([policy, restriction, { ...policy, name: 'other' }], member)).created, 1);
    });

    test('nobody locks themselves out, unless they say so; only the end counts', async () => {
      const admin = await newAdmin();
      const entries = (policy: string, allowed: readonly string[], other: readonly string[] = []) => [
        { kind: 'ip_policies', name: 'first', rules: allowed },
        { kind: 'ip_policies', name: 'second', rules: other },
        { kind: 'ip_restrictions', name: 'api', type: 'api', enforced: true, ip_policies: [policy] },
      ];
      await refuses(g(), ['POST', path, entries('first', ['192.0.2.0/24']), admin], 409, 20005);
      await apply(entries('first', ['127.0.0.0/8']), admin);
      // Each step alone would lock the caller out.
      await apply(entries('second', ['192.0.2.0/24'], ['127.0.0.0/8']), admin);
      const options = { ...admin, headers: { 'gatehouse-allow-lockout': 'true' } };
      assert.equal((await g().post(path, entries('first', ['192.0.2.0/24']), options)).status, 200);
      assert.equal((await g().get(path, admin)).status, 403);
    });

    test('many applies at once leave what one of them says', async () => {
      const admin = await newAdmin();
      const variants = Array.from({ length: 6 }, (_, at) => [
        { kind: 'static_backends', name: 'app', address: `a:${at + 1}` },
        { kind: 'static_backends', name: 'copy', address: `a:${at + 1}` },
      ]);
      const answers = await Promise.all(variants.map((entries) => g().post(path, entries, admin)));
      assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
      assert.equal(answers.filter(({ body }) => body.created === 2).length, 1);
      const [app, copy] = await read(admin);
      assert.equal(app?.['address'], copy?.['address']);
      assert.equal((await read(admin)).length, 2);
    });

    test('one apply is one version in the change log', async () => {
      const admin = await newAdmin();
      const before = g().app.context.store.version;
      await apply(everyKind(), admin);
      assert.equal(g().app.context.store.version, before + 1);
    });
  },
  { role: 'api' },
);

onEachGatehouse(
  'the bound on entries',
  (g) => {
    test('more entries than the setting allows are refused, and the setting is named', async () => {
      const entries = ['a', 'b', 'c'].map((name) => ({ kind: 'static_backends', name, address: 'a:1' }));
      assert.match(await refuses(g(), ['POST', path, entries], 413, 20211), /GATEHOUSE_CONFIGURATION_ENTRIES/);
      assert.equal((await g().post(path, entries.slice(1))).status, 200);
    });
  },
  { role: 'api', configurationEntries: '2' },
);
