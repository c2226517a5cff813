import assert from 'node:assert/strict';
import { test } from 'node:test';

import { bodyLimitBytes } from '../../api/body/body.ts';
import { createAccount, createUser } from '../../../test/support/people.ts';
import { refuses } from '../../../test/support/refusals.ts';
import { onEachGatehouse } from '../../../test/support/shared-gatehouse.ts';

interface Rule {
  readonly id: string;
  readonly cidr: string;
  readonly action: string;
  readonly ip_policy: { readonly id: string };
}

onEachGatehouse('replacing all rules of a policy', (g) => {
  const newPolicy = async (): Promise<string> => (await g().create('/ip_policies')).id;
  const replace = async (policy: string, list: unknown) => {
    const answer = await g().put(`/ip_policies/${policy}/rules`, list);
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };
  const replaceText = (policy: string, raw: string | Uint8Array, type = 'text/plain') =>
    g().put(`/ip_policies/${policy}/rules`, undefined, { raw, headers: { 'content-type': type } });
  const rulesOf = async (policy: string): Promise<readonly Rule[]> => {
    const rules: Rule[] = [];
    for (let uri: string | null = '/ip_policy_rules'; uri !== null;) {
      const { body }: { body: { ip_policy_rules: Rule[]; next_page_uri: string | null } } = await g().get(uri);
      rules.push(...body.ip_policy_rules.filter((rule) => rule.ip_policy.id === policy));
      uri = body.next_page_uri;
    }
    return rules;
  };
  const shown = async (policy: string) =>
    (await rulesOf(policy)).map(({ cidr, action }) => `${action} ${cidr}`).toSorted();

  test('a JSON list of texts and objects becomes the rules, with counts of what happened', async () => {
    const policy = await newPolicy();
    const first = [
      '10.0.0.0/8',
      '!10.1.0.0/16',
      { cidr: '2001:DB8::/32', action: 'deny', description: 'd' },
      { cidr: '::1/128' },
    ];
    assert.deepEqual(await replace(policy, first), { added: 4, removed: 0, kept: 0 });
    const all = ['allow 10.0.0.0/8', 'allow ::1/128', 'deny 10.1.0.0/16', 'deny 2001:db8::/32'];
    assert.deepEqual(await shown(policy), all);
    assert.deepEqual(await replace(policy, ['10.0.0.0/8', '192.0.2.0/24']), { added: 1, removed: 3, kept: 1 });
    assert.deepEqual(await shown(policy), ['allow 10.0.0.0/8', 'allow 192.0.2.0/24']);
    assert.deepEqual(await replace(policy, []), { added: 0, removed: 2, kept: 0 });
    assert.deepEqual(await shown(policy), []);
  });

  test('what GET answers is taken as it is, with its ids, and a part of the list is not', async () => {
    const policy = await newPolicy();
    const path = `/ip_policies/${policy}/rules`;
    await replace(policy, ['10.0.0.0/8', { cidr: '10.1.0.0/16', action: 'deny', description: 'guests' }]);
    const { body: page } = await g().get(path);
    assert.deepEqual(await replace(policy, page), { added: 0, removed: 0, kept: 2 });
    assert.deepEqual((await g().get(path)).body, page);
    assert.deepEqual(await replace(policy, page.rules), { added: 0, removed: 0, kept: 2 });
    assert.deepEqual(await replace(policy, await rulesOf(policy)), { added: 0, removed: 0, kept: 2 });
    assert.deepEqual((await g().get(path)).body, page);
    const { body: part } = await g().get(`${path}?filter=${encodeURIComponent('obj.action == "deny"')}`);
    assert.equal(part.rules.length, 1);
    for (const refused of [part, { ...page, next_page_uri: `${page.uri}?after=10.0.0.0%2F8` }]) {
      assert.match((await g().put(path, refused)).text, /one page, or a filtered part/);
    }
    assert.equal((await g().put(path, { ...page, more: [] })).status, 400);
    assert.deepEqual(await replace(policy, { rules: [] }), { added: 0, removed: 2, kept: 0 });
  });

  test('what GET answers is taken as it is at any size', async () => {
    const policy = await newPolicy();
    const path = `/ip_policies/${policy}/rules`;
    const cidrs = Array.from({ length: 4_000 }, (_, at) => ({
      cidr: `10.${at >> 8}.${at & 255}.0/24`,
      description: 'd'.repeat(200),
    }));
    await replace(policy, cidrs);
    let rules: unknown[] = [];
    for (let uri: string | null = path; uri !== null;) {
      const { body }: { body: { rules: unknown[]; next_page_uri: string | null } } = await g().get(uri);
      rules = [...rules, ...body.rules];
      uri = body.next_page_uri;
    }
    // More than the body of other calls may have, which is parsed at once.
    assert.ok(JSON.stringify(rules).length > bodyLimitBytes);
    const uri = `${g().url}${path}`;
    for (const page of [
      { rules, uri, next_page_uri: null },
      { uri, next_page_uri: null, rules },
    ])
      assert.deepEqual(await replace(policy, page), { added: 0, removed: 0, kept: 4_000 });
    assert.match(
      (await g().put(path, { rules, next_page_uri: `${uri}?after=x` })).text,
      /one page, or a filtered part/,
    );
    assert.match((await g().put(path, { rules, more: 1 })).text, /ERR_GATEHOUSE_/);
    const twice = JSON.stringify({ rules }).slice(0, -1) + ',"rules":["10.0.0.0/8"]}';
    assert.match((await g().put(path, undefined, { raw: twice })).text, /it has two lists/);
    const behind = JSON.stringify({ rules, uri: 'x'.repeat(20_000) });
    assert.match((await g().put(path, undefined, { raw: behind })).text, /too much behind the list/);
    for (const broken of [
      `{"rules":["10.0.0.0/8"]`,
      `{"rules":["10.0.0.0/8"}`,
      `{"rules":["10.0.0.0/8"]}}`,
      `{"rules":["10.0.0.0/8"],}`,
    ])
      assert.equal((await g().put(path, undefined, { raw: broken })).status, 400, broken);
    assert.equal((await g().get(path)).body.totals.allow, 4_000);
    // The other tests look at all rules of the account.
    await replace(policy, []);
  });

  test('text with comments, blank lines, deny marks and any line ends is read alike', async () => {
    const policy = await newPolicy();
    const text =
      '\uFEFF# offices\r\n\r\n  10.0.0.0/8   # Berlin\n!10.1.0.0/16#guests\n ! 10.2.0.0/16\n\t2001:DB8::/32\t\r\n#!9.9.9.9/32';
    const answer = await replaceText(policy, text);
    assert.deepEqual(answer.body, { added: 4, removed: 0, kept: 0 }, answer.text);
    const all = ['allow 10.0.0.0/8', 'allow 2001:db8::/32', 'deny 10.1.0.0/16', 'deny 10.2.0.0/16'];
    assert.deepEqual(await shown(policy), all);
    const again = await replaceText(policy, text, 'text/plain; charset=utf-8');
    assert.deepEqual(again.body, { added: 0, removed: 0, kept: 4 });
    assert.deepEqual((await replaceText(policy, '# nothing\n')).body, { added: 0, removed: 4, kept: 0 });
  });

  test('rules that stay keep their ids and their texts; a changed action or text makes a new rule', async () => {
    const policy = await newPolicy();
    const office = { cidr: '10.0.0.0/8', description: 'office', metadata: 'm' };
    await replace(policy, [office, '10.1.0.0/16', '10.2.0.0/16']);
    const before = new Map((await rulesOf(policy)).map((rule) => [rule.cidr, rule]));
    const counts = await replace(policy, ['10.0.0.0/8', '!10.1.0.0/16', { cidr: '10.2.0.0/16', description: 'new' }]);
    assert.deepEqual(counts, { added: 2, removed: 2, kept: 1 });
    const after = new Map((await rulesOf(policy)).map((rule) => [rule.cidr, rule]));
    assert.deepEqual(after.get('10.0.0.0/8'), before.get('10.0.0.0/8'));
    assert.notEqual(after.get('10.1.0.0/16')?.id, before.get('10.1.0.0/16')?.id);
    assert.equal((await g().get(`/ip_policy_rules/${before.get('10.1.0.0/16')?.id}`)).status, 404);
  });

  test('a list that changes nothing writes nothing', async () => {
    const policy = await newPolicy();
    await replace(policy, ['10.0.0.0/8', '!10.1.0.0/16']);
    const { version } = g().app.context.store;
    assert.deepEqual(await replace(policy, ['!10.1.0.0/16', '10.0.0.0/8']), { added: 0, removed: 0, kept: 2 });
    assert.equal(g().app.context.store.version, version);
    await replace(policy, ['10.0.0.0/8']);
    assert.equal(g().app.context.store.version, version + 1);
  });

  test('null stands for an absent field', async () => {
    const policy = await newPolicy();
    const rule = { cidr: '10.0.0.0/8', action: null, description: null, metadata: null };
    assert.deepEqual(await replace(policy, [rule]), { added: 1, removed: 0, kept: 0 });
    assert.deepEqual(await shown(policy), ['allow 10.0.0.0/8']);
  });

  test('a fault anywhere in a JSON list names what is wrong and leaves everything as it was', async () => {
    const policy = await newPolicy();
    await replace(policy, ['10.0.0.0/8']);
    const before = await rulesOf(policy);
    const fault = (entry: unknown, code: number) =>
      refuses(g(), ['PUT', `/ip_policies/${policy}/rules`, ['192.0.2.0/24', entry]], 400, code);
    assert.ok((await fault('10.0.0.1/8', 1409)).includes('10.0.0.0/8'));
    assert.ok((await fault('10.0.0.1', 1413)).includes('10.0.0.1/32'));
    assert.ok((await fault('nonsense', 1406)).includes('nonsense'));
    assert.ok((await fault('192.0.2.0/24', 20009)).includes('192.0.2.0/24'));
    await fault('!192.0.2.0/24', 20009);
    await fault('!!10.0.0.0/8', 1406);
    assert.ok((await fault({ cidr: '10.0.0.0/8', colour: 'red' }, 214)).includes('colour'));
    assert.ok((await fault({ action: 'allow' }, 20012)).includes('cidr'));
    assert.ok((await fault({ cidr: '10.0.0.0/8', action: 'maybe' }, 215)).includes(': allow, deny'));
    assert.ok((await fault({ cidr: '10.0.0.0/8', description: 'é'.repeat(128) }, 20011)).includes('256'));
    assert.ok((await fault({ cidr: 8 }, 215)).includes('cidr'));
    await fault({ cidr: '10.0.0.0/8', metadata: '\udfff' }, 20010);
    for (const entry of [7, null, true, ['10.0.0.0/8']]) await fault(entry, 215);
    assert.deepEqual(await rulesOf(policy), before);
  });

  test('a body that is not a list is refused', async () => {
    const policy = await newPolicy();
    for (const body of [{}, { rules: 7 }, { entries: [] }, '10.0.0.0/8', 7]) {
      const message = await refuses(g(), ['PUT', `/ip_policies/${policy}/rules`, body], 400, 215);
      assert.match(message, /^The value of the body is .* of type list belongs\.$/);
    }
    const path = `/ip_policies/${policy}/rules`;
    await refuses(g(), ['PUT', path, undefined, { raw: '[', headers: {} }], 400, 213);
    await refuses(g(), ['PUT', path, undefined, { raw: 'x', headers: { 'content-type': 'text/csv' } }], 415, 210);
    await refuses(g(), ['PUT', `${path}?mode=add`, []], 400, 231);
    const latin1 = Uint8Array.of(0x23, 0xe9);
    await refuses(g(), ['PUT', path, undefined, { raw: latin1, headers: { 'content-type': 'text/plain' } }], 400, 213);
  });

  test('a fault in text is told with the number of its line', async () => {
    const policy = await newPolicy();
    await replace(policy, ['10.0.0.0/8']);
    const fault = (raw: string) =>
      refuses(
        g(),
        ['PUT', `/ip_policies/${policy}/rules`, undefined, { raw, headers: { 'content-type': 'text/plain' } }],
        400,
        20016,
      );
    assert.match(await fault('# list\n\n10.0.0.0/8\n10.0.0.1/8 # here\n'), /Line 4 .*10\.0\.0\.0\/8/);
    assert.match(await fault('10.1.0.0/16\r\n10.2.0.0'), /Line 2 .*10\.2\.0\.0\/32/);
    assert.match(await fault('10.1.0.0/16, 10.2.0.0/16'), /Line 1 /);
    assert.match(await fault('10.1.0.0/16\n2001:DB8::/32\n!2001:db8::/32'), /Line 3 .*2001:db8::\/32.*line 2/i);
    assert.deepEqual(await shown(policy), ['allow 10.0.0.0/8']);
  });

  test('a missing policy is 404, also for a list with faults in its ranges', async () => {
    await refuses(g(), ['PUT', '/ip_policies/ipp_000000000000000000000000000/rules', ['10.0.0.0/8']], 404, 222);
    const { token } = await createUser(g(), 'admin', await createAccount(g()));
    await refuses(g(), ['PUT', `/ip_policies/${await newPolicy()}/rules`, ['10.0.0.0/8'], { token }], 404, 222);
  });

  test('replacements at the same time leave exactly one of the lists', async () => {
    const policy = await newPolicy();
    const lists = Array.from({ length: 6 }, (_, at) => [`10.${at}.0.0/16`, `!10.${at}.1.0/24`, '192.0.2.0/24']);
    const answers = await Promise.all(lists.map((list) => replace(policy, list)));
    assert.ok(answers.every(({ added, kept }) => added + kept === 3));
    const left = await shown(policy);
    const possible = lists.map((_, at) => ['allow 10.' + at + '.0.0/16', 'allow 192.0.2.0/24', `deny 10.${at}.1.0/24`]);
    assert.ok(
      possible.some((list) => list.join() === left.join()),
      left.join(),
    );
  });

  test('a long list that fails at its end leaves no part of it behind', async () => {
    const policy = await newPolicy();
    await replace(policy, ['192.0.2.0/24']);
    const text = Array.from({ length: 3000 }, (_, at) => `10.${at >> 8}.${at & 255}.0/24`);
    const answer = await replaceText(policy, [...text, '10.0.0.0/24'].join('\n'));
    assert.equal(answer.status, 400);
    assert.match(answer.body.msg, /Line 3001/);
    assert.deepEqual(await shown(policy), ['allow 192.0.2.0/24']);
    assert.deepEqual((await replaceText(policy, text.join('\n'))).body, { added: 3000, removed: 1, kept: 0 });
    assert.deepEqual((await replaceText(policy, text.slice(7).join('\n'))).body, { added: 0, removed: 7, kept: 2993 });
    await replace(policy, []);
  });

  test('a list that has changed since its tag was seen is not overwritten', async () => {
    const policy = await newPolicy();
    const path = `/ip_policies/${policy}/rules`;
    // Texts that languages and computers sort differently.
    const list = ['!10.1.0.0/16', '100.0.0.0/8', '1.0.0.0/8', '10.0.0.0/8', '::1/128', '1::/16'];
    const tag = (await g().put(path, list)).headers.get('etag') ?? '';
    assert.equal((await g().put(path, list.toReversed())).headers.get('etag'), tag, 'order does not matter');
    await refuses(g(), ['PUT', path, ['192.0.2.0/24'], { headers: { 'if-match': '"another"' } }], 412, 20020);
    assert.equal((await g().put(path, ['192.0.2.0/24'], { headers: { 'if-match': tag } })).status, 200);
    await refuses(g(), ['PUT', path, ['198.51.100.0/24'], { headers: { 'if-match': tag } }], 412, 20020);
  });
});
