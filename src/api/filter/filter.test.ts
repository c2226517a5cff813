import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Gatehouse } from '../../../test/support/gatehouse.ts';
import { createAccount, createUser } from '../../../test/support/people.ts';
import { onGatehousesInTurn } from '../../../test/support/shared-gatehouse.ts';

interface Listed {
  readonly id: string;
}

async function newToken(gatehouse: Gatehouse): Promise<string> {
  return (await createUser(gatehouse, 'admin', await createAccount(gatehouse))).token;
}

const query = (filter: string, more = '') => `?filter=${encodeURIComponent(filter)}${more}`;

onGatehousesInTurn('the filter of a list', (g) => {
  const policies = async (token: string, filter: string, more = '') => {
    const { status, body, text } = await g().get(`/ip_policies${query(filter, more)}`, { token });
    assert.equal(status, 200, text);
    return { ids: body.ip_policies.map(({ id }: Listed) => id), next: body.next_page_uri };
  };
  const refusal = async (filter: string) => {
    const { status, body } = await g().get(`/ip_policies${query(filter)}`);
    assert.equal(status, 400);
    return { code: body.error_code, msg: body.msg };
  };

  test('following next_page_uri gives every entry that passes once, and the filter goes along', async () => {
    const token = await newToken(g());
    const ids: string[] = [];
    for (let at = 0; at < 40; at++) {
      const { id } = await g().create(
        '/ip_policies',
        { description: at % 3 === 0 ? 'shop & "co"' : 'other' },
        { token },
      );
      if (at % 3 === 0) ids.unshift(id);
    }
    const filter = 'obj.description == "shop & \\"co\\""';
    for (const limit of [1, 5, 14, 100]) {
      const seen: string[] = [];
      let page = await policies(token, filter, `&limit=${limit}`);
      for (;;) {
        seen.push(...page.ids);
        if (page.next === null) break;
        const { searchParams } = new URL(page.next);
        assert.equal(searchParams.get('filter'), filter);
        assert.equal(searchParams.get('limit'), String(limit));
        assert.ok(page.ids.length === limit);
        const { body } = await g().get(page.next, { token });
        page = { ids: body.ip_policies.map(({ id }: Listed) => id), next: body.next_page_uri };
      }
      assert.deepEqual(seen, ids);
    }
  });

  test('times are compared as times, and now is now', async () => {
    const token = await newToken(g());
    const { id } = await g().create('/ip_policies', {}, { token });
    const passes = async (filter: string) => (await policies(token, filter)).ids.includes(id);
    assert.equal(await passes('obj.created_at > timestamp(time.now).subtract("7d")'), true);
    assert.equal(await passes('obj.created_at > timestamp(time.now).add("1h30m")'), false);
    assert.equal(await passes('timestamp(obj.created_at) < timestamp(time.now).add("24h")'), true);
    assert.equal(await passes('obj.created_at >= timestamp("2025-05-10Z")'), true);
    assert.equal(await passes('obj.created_at < timestamp("2025-05-10")'), false);
    assert.equal(await passes('obj.created_at > "2025-05-10T12:00:00+02:00"'), true);
    const { body } = await g().get(`/ip_policies/${id}`, { token });
    assert.equal(await passes(`obj.created_at == timestamp("${body.created_at}")`), true);
    assert.equal(await passes(`obj.created_at > timestamp("${body.created_at}")`), false);
    assert.equal(await passes(`obj.id == "${id}"`), true);
    assert.equal(await passes(`obj.id > "${id}"`), false);
  });

  test('texts that look like SQL are texts, and nobody sees what is of another account', async () => {
    const token = await newToken(g());
    const own = (await g().create('/ip_policies', { description: "x' OR '1'='1" }, { token })).id;
    await g().create('/ip_policies', { description: 'of another account' });
    const attacks = ["' OR 1=1 --", "'; DROP TABLE ip_policies; --", '$1', '?1', "x') OR (TRUE", '%', '_', '\\', "''"];
    for (const attack of attacks) {
      const written = JSON.stringify(attack);
      assert.deepEqual((await policies(token, `obj.description == ${written}`)).ids, []);
      assert.deepEqual((await policies(token, `obj.description in [${written}]`)).ids, []);
      assert.deepEqual((await policies(token, `obj.metadata.startsWith(${written})`)).ids, []);
    }
    assert.deepEqual((await policies(token, "obj.description == \"x' OR '1'='1\"")).ids, [own]);
    assert.deepEqual((await policies(token, 'true')).ids, [own]);
    assert.deepEqual((await policies(token, 'true || obj.id != ""')).ids, [own]);
    assert.equal((await g().get(`/backends/tunnel_group${query(`obj.labels.x == "' OR 1=1"`)}`)).status, 200);
  });

  test('a time that is unset is unequal to every time, and null', async () => {
    const token = await newToken(g());
    const found = async (filter: string) =>
      (await g().get(`/api_keys${query(`obj.description == "unset" && ${filter}`)}`, { token })).body.keys.length;
    await g().create('/api_keys', { description: 'unset' }, { token });
    assert.equal(await found('obj.expires_at != timestamp("2030-01-01Z")'), 1);
    assert.equal(await found('!(obj.expires_at == timestamp("2030-01-01Z"))'), 1);
    assert.equal(await found('obj.expires_at == null'), 1);
    assert.equal(
      await found('obj.expires_at < timestamp("2030-01-01Z") || obj.expires_at >= timestamp("2030-01-01Z")'),
      0,
    );
    assert.equal(await found('obj.expires_at in [timestamp("2030-01-01Z"), null]'), 1);
  });

  test('lowerAscii() compares texts without regard to case', async () => {
    const token = await newToken(g());
    const { id } = await g().create('/ip_policies', { description: 'Main OFFICE Ä' }, { token });
    assert.deepEqual((await policies(token, 'obj.description.lowerAscii().contains("office Ä")')).ids, [id]);
    assert.deepEqual((await policies(token, 'obj.description.lowerAscii() == "main office Ä"')).ids, [id]);
    assert.deepEqual((await policies(token, 'obj.description.lowerAscii().contains("OFFICE")')).ids, []);
    assert.deepEqual((await policies(token, 'obj.description.lowerAscii().contains("ä")')).ids, []);
    // Ids have letters of both cases: their order is not that of lowered ones.
    assert.deepEqual((await policies(token, `obj.id.lowerAscii() == "${id.toLowerCase()}"`)).ids, [id]);
    assert.deepEqual((await policies(token, 'obj.id.lowerAscii() > "ipp_"')).ids, [id]);
  });

  test('an empty filter is none', async () => {
    const token = await newToken(g());
    const { id } = await g().create('/ip_policies', {}, { token });
    assert.deepEqual((await policies(token, '')).ids, [id]);
  });

  test('a filter that cannot be used is refused with the place, the reason and an example', async () => {
    const { code, msg } = await refusal('obj.description = "x"');
    assert.equal(code, 'ERR_GATEHOUSE_250');
    assert.match(msg, /At character 17: "=" is no operator; "==" compares\. A filter looks like obj\.description == /);
    const reasons: readonly (readonly [string, RegExp])[] = [
      ['obj.description', /neither true nor false/],
      ['obj.description == 5', /character 20: the field is a text/],
      ['obj.created_at.contains("x")', /is for texts, and this is a time/],
      ['obj.created_at > timestamp(time.now).subtract("7 weeks")', /such as "7d"/],
      ['obj.created_at > timestamp(time.now).add("99999999d")', /between the years 0 and 9999/],
      ['obj.created_at > null', /null is neither before nor after/],
      ['obj.description == obj.metadata', /not with another field/],
      ['"a" == "b"', /one side of a comparison is a field/],
      ['obj.description in "abc"', /a field is expected here|is followed by a list/],
      ['"a" in obj.description', /is followed by a list/],
      ['obj.description in [obj.metadata]', /a list holds values/],
      ['obj.created_at.lowerAscii() == "x"', /is for texts, and this is a time/],
      ['obj.description.lowerAscii("x") == "x"', /lowerAscii\(\) takes nothing/],
      ['obj.description.lowerAscii()', /neither true nor false|takes one text|is not offered/],
      ['obj.description.matches("x")', /matches\(\) is not offered here; there are size\(\)/],
      ['exec("x")', /exec\(\) is not offered/],
      ['size(obj.created_at) > 1', /a time has no size/],
      ['size(obj.description) > "1"', /compared with a number/],
      ['description == "x"', /written as obj\.name \(did you mean obj\.description\?\)\. A filter/],
      ['text == "x"', /written as obj\.name\. A filter/],
      ['obj.descripton == "x"', /obj\.descripton to filter by \(did you mean obj\.description\?\); there are id, /],
      ['obj.__proto__ == "x"', /there is no field obj\.__proto__/],
      ['obj.constructor == "x"', /there is no field/],
    ];
    for (const [filter, reason] of reasons) assert.match((await refusal(filter)).msg, reason, filter);
    const time = await refusal('obj.created_at > timestamp("2026-02-30T00:00:00Z")');
    assert.equal(time.code, 'ERR_GATEHOUSE_241');
    assert.match(time.msg, /"2026-02-30T00:00:00Z".*RFC 3339/);
  });

  test('a filter is given once, up to its length, without NUL', async () => {
    const long = `obj.description == "${'x'.repeat(4_096)}"`;
    const { code, msg } = await refusal(long);
    assert.equal(code, 'ERR_GATEHOUSE_20230');
    assert.match(msg, /4117 characters, where 4096 are allowed/);
    const twice = await g().get(`/ip_policies${query('true', '&filter=true')}`);
    assert.equal(twice.body.error_code, 'ERR_GATEHOUSE_232');
    assert.equal((await g().get('/ip_policies?filter=%00')).body.error_code, 'ERR_GATEHOUSE_230');
    const { status } = await g().get(`/ip_policies${query('true&&'.repeat(682).slice(0, -2))}`);
    assert.equal(status, 200, 'as many operators as fit');
  });

  test('a filter compares with lists and maps up to a limit', async () => {
    const compare = (path: string, condition: string, times: number) =>
      g().get(`${path}${query(Array.from({ length: times }, () => condition).join(' || '))}`);
    for (const [path, condition] of [
      ['/edges/https', '"a" in obj.hostports'],
      ['/edges/https', '!(size(obj.hostports) > 5)'],
      ['/backends/tunnel_group', 'obj.labels.a == "b"'],
    ] as const) {
      assert.equal((await compare(path, condition, 32)).status, 200);
      const { body } = await compare(path, condition, 33);
      assert.equal(body.error_code, 'ERR_GATEHOUSE_20265');
      assert.match(body.msg, /compares 33 times with a list or a map, where 32 are allowed/);
    }
    assert.equal((await compare('/ip_policies', 'obj.id != ""', 100)).status, 200, 'texts have no such limit');
  });

  test('rules of one policy, and edges and endpoints by where they are reached, are found', async () => {
    const token = await newToken(g());
    const first = (await g().create('/ip_policies', {}, { token })).id;
    const second = (await g().create('/ip_policies', {}, { token })).id;
    await g().put(`/ip_policies/${first}/rules`, [{ cidr: '10.0.0.0/8', action: 'allow' }], { token });
    const cidrs = Array.from({ length: 30 }, (_, at) => ({ cidr: `10.1.${at}.0/24`, action: 'deny' }));
    await g().put(`/ip_policies/${second}/rules`, cidrs, { token });
    const rules = async (filter: string) =>
      (await g().get(`/ip_policy_rules${query(filter)}`, { token })).body.ip_policy_rules;
    assert.equal((await rules(`obj.ip_policy.id == "${second}"`)).length, 30);
    assert.deepEqual(
      (await rules(`obj.ip_policy == "${first}" && obj.action == "allow"`)).map(({ cidr }: { cidr: string }) => cidr),
      ['10.0.0.0/8'],
    );
    // Rules that are in force no longer are not shown, though they are still stored.
    await g().app.context.store.writeUnlogged(async (writer) => {
      await writer.run('UPDATE ip_policies SET rule_set = NULL WHERE id = $1', [second]);
    });
    assert.equal((await rules('obj.action == "deny"')).length, 0);
    const name = `filter-${first.slice(-6).toLowerCase()}.example.com:443`;
    const edge = await g().create('/edges/https', { hostports: [name] }, { token });
    const edges = await g().get(`/edges/https${query(`"${name}" in obj.hostports`)}`, { token });
    assert.deepEqual(
      edges.body.https_edges.map(({ id }: Listed) => id),
      [edge.id],
    );
    const endpoints = await g().get(`/endpoints${query(`obj.type == "edge" && obj.port == 443`)}`, { token });
    assert.deepEqual(
      endpoints.body.endpoints.map(({ edge: of }: { edge: Listed }) => of.id),
      [edge.id],
    );
    const none = await g().get(`/endpoints${query(`obj.edge.id == "${edge.id}" && obj.port > 443.5`)}`, { token });
    assert.deepEqual(none.body.endpoints, []);
  });

  test('routes of one edge are found, those of other edges never', async () => {
    const token = await newToken(g());
    const newEdge = () => g().create('/edges/https', {}, { token });
    const [edge, other] = [await newEdge(), await newEdge()];
    const backend = await g().create('/backends/static', { address: '192.0.2.1:80' }, { token });
    const routes: string[] = [];
    for (const [at, match] of ['/a', '/b', '/shop/a', '/shop/b', '/shop/c'].entries()) {
      const module = at === 1 ? { backend: { backend_id: backend.id } } : {};
      const route = { match, match_type: 'path_prefix', description: `route ${at}`, ...module };
      routes.push((await g().create(`/edges/https/${edge.id}/routes`, route, { token })).id);
      await g().create(`/edges/https/${other.id}/routes`, route, { token });
    }
    const path = `/edges/https/${edge.id}/routes`;
    const found = async (filter: string) =>
      (await g().get(`${path}${query(filter)}`, { token })).body.routes.map(({ id }: Listed) => id);
    const shops = routes.slice(2).toReversed();
    assert.deepEqual(await found('obj.match.startsWith("/shop/")'), shops);
    assert.deepEqual(await found('obj.description == "route 0" && obj.match_type == "path_prefix"'), [routes[0]]);
    assert.deepEqual(await found(`obj.backend.backend.id == "${backend.id}"`), [routes[1]]);
    assert.deepEqual(await found('true'), routes.toReversed());
    const first = await g().get(`${path}${query('obj.match.startsWith("/shop/")', '&limit=2')}`, { token });
    const second = await g().get(first.body.next_page_uri, { token });
    assert.deepEqual(
      [...first.body.routes, ...second.body.routes].map(({ id }: Listed) => id),
      shops,
    );
    assert.equal(second.body.next_page_uri, null);
  });

  test('the list of a policy can be filtered, and shows no rule that is not in force', async () => {
    const token = await newToken(g());
    const { id } = await g().create('/ip_policies', {}, { token });
    const path = `/ip_policies/${id}/rules`;
    const rules = (first: number) =>
      Array.from({ length: 20 }, (_, at) => ({ cidr: `10.${first}.${at}.0/24`, action: at % 2 ? 'allow' : 'deny' }));
    await g().put(path, [...rules(1), ...rules(2), ...rules(3)], { token });
    // As while a list is replaced: some rules are in a set that is not in force.
    await g().app.context.store.writeUnlogged(async (writer) => {
      const sql = 'SELECT rule_set FROM ip_policies WHERE id = $1';
      await writer.run(`UPDATE ip_policy_rule_rows SET set_id = 1 WHERE set_id = (${sql}) AND cidr LIKE '10.1.%'`, [
        id,
      ]);
    });
    const found = async (filter: string) =>
      (await g().get(`${path}${query(filter)}`, { token })).body.rules.map(({ cidr }: { cidr: string }) => cidr);
    const all = [...rules(2), ...rules(3)];
    const expected = (pick: (rule: { cidr: string; action: string }) => boolean) =>
      all
        .filter(pick)
        .map(({ cidr }) => cidr)
        .toSorted();
    assert.deepEqual(
      await found('true'),
      expected(() => true),
    );
    assert.deepEqual(
      await found('obj.action == "deny"'),
      expected(({ action }) => action === 'deny'),
    );
    assert.deepEqual(await found('obj.cidr.startsWith("10.1.")'), []);
    const { body } = await g().get(`${path}${query('obj.action = "deny"')}`, { token });
    assert.equal(body.error_code, 'ERR_GATEHOUSE_250');
  });

  test('changes are found by what they did, to what', async () => {
    const token = await newToken(g());
    const { id } = await g().create('/ip_policies', {}, { token });
    await g().patch(`/ip_policies/${id}`, { description: 'x' }, { token });
    await g().delete(`/ip_policies/${id}`, { token });
    const changes = async (filter: string) => (await g().get(`/changes${query(filter)}`, { token })).body.changes;
    const all = await changes(`obj.resource_id == "${id}"`);
    assert.deepEqual(
      all.map(({ action }: { action: string }) => action),
      ['delete', 'update', 'create'],
    );
    assert.deepEqual(await changes(`obj.resource_id == "${id}" && obj.action == "update"`), [all[1]]);
    assert.deepEqual(await changes(`obj.id in ["${all[0].id}", "chg_0"]`), [all[0]]);
    assert.deepEqual(await changes(`obj.version < ${all[1].version} && obj.kind == "ip_policy"`), [all[2]]);
    assert.deepEqual(await changes('obj.created_at < timestamp("2025-01-01Z")'), []);
  });
});

onGatehousesInTurn(
  'the bound of a filter',
  (g) => {
    test('a filter looks at no more than it may, says where to go on, and never repeats or leaves out', async () => {
      const token = await newToken(g());
      const { id: policy } = await g().create('/ip_policies', {}, { token });
      const cidrs = Array.from({ length: 350 }, (_, at) => ({
        cidr: `10.${Math.floor(at / 200)}.${at % 200}.0/24`,
        action: at % 170 === 3 ? 'deny' : 'allow',
      }));
      await g().put(`/ip_policies/${policy}/rules`, cidrs, { token });
      const refused = await g().get(`/ip_policy_rules${query('obj.cidr == "none"')}`, { token });
      assert.equal(refused.status, 400);
      assert.equal(refused.body.error_code, 'ERR_GATEHOUSE_20231');
      assert.match(
        refused.body.msg,
        /looked at 100 entries.*before_id=ipr_\w+.*obj\.created_at > .*GATEHOUSE_FILTER_ROWS/,
      );
      const seen: string[] = [];
      let calls = 0;
      for (let uri: string | null = `/ip_policy_rules${query('obj.action == "deny"')}`; uri !== null; calls++) {
        assert.ok(calls < 10, 'the pages do not end');
        const { status, body }: Awaited<ReturnType<Gatehouse['get']>> = await g().get(uri, { token });
        if (status === 400) {
          const [, before = ''] = /before_id=(\w+)/.exec(body.msg) ?? [];
          uri = `/ip_policy_rules${query('obj.action == "deny"', `&before_id=${before}`)}`;
          continue;
        }
        seen.push(...body.ip_policy_rules.map(({ cidr }: { cidr: string }) => cidr));
        uri = body.next_page_uri;
      }
      assert.deepEqual(seen.toSorted(), ['10.0.173.0/24', '10.0.3.0/24', '10.1.143.0/24']);
      assert.ok(calls > 2, 'the bound was not met');
    });

    test('the list of a policy goes on where the bound ended a page', async () => {
      const token = await newToken(g());
      const { id } = await g().create('/ip_policies', {}, { token });
      const path = `/ip_policies/${id}/rules`;
      const rules = Array.from({ length: 250 }, (_, at) => ({
        cidr: `10.0.${at}.0/24`,
        action: at % 60 === 5 ? 'deny' : 'allow',
      }));
      await g().put(path, rules, { token });
      const refused = await g().get(`${path}${query('obj.cidr == "none"')}`, { token });
      assert.equal(refused.body.error_code, 'ERR_GATEHOUSE_20231');
      assert.match(refused.body.msg, /looked at 100 entries.*Continue with after=10\.0\.\d+\.0\/24/);
      const seen: string[] = [];
      let uri: string | null = `${path}${query('obj.action == "deny"')}`;
      for (let calls = 0; uri !== null; calls++) {
        assert.ok(calls < 5, 'the pages do not end');
        const { body }: Awaited<ReturnType<Gatehouse['get']>> = await g().get(uri, { token });
        seen.push(...body.rules.map(({ cidr }: { cidr: string }) => cidr));
        uri = body.next_page_uri;
      }
      const deny = rules.filter(({ action }) => action === 'deny').map(({ cidr }) => cidr);
      assert.deepEqual(seen, deny.toSorted());
    });

    test('a time or an id narrows what is looked at', async () => {
      const token = await newToken(g());
      const { id: policy } = await g().create('/ip_policies', {}, { token });
      const cidrs = Array.from({ length: 150 }, (_, at) => ({ cidr: `10.0.${at}.0/24`, action: 'allow' }));
      await g().put(`/ip_policies/${policy}/rules`, cidrs, { token });
      const status = async (filter: string) => (await g().get(`/ip_policy_rules${query(filter)}`, { token })).status;
      const newest = (await g().get('/ip_policy_rules?limit=1', { token })).body.ip_policy_rules[0].id;
      assert.equal(await status('obj.cidr == "none"'), 400);
      assert.equal(await status('obj.cidr == "none" && obj.created_at > timestamp(time.now).add("1h")'), 200);
      assert.equal(await status('obj.cidr == "none" && obj.created_at < timestamp(time.now).add("1h")'), 400);
      assert.equal(await status(`obj.cidr == "none" && obj.id >= "${newest}"`), 200);
      assert.equal(await status(`obj.cidr == "none" || obj.id > "${newest}"`), 400);
    });
  },
  { filterRows: '100' },
);
