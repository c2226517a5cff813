import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Decision, EventDestination } from '../../client/src/index.ts';
import { placeOf, kindOf } from '../../dashboard/src/pages/notifications/target-words.ts';
import { targetOf } from '../../dashboard/src/pages/notifications/target-form.ts';
import { topics, wordsOf } from '../../dashboard/src/pages/notifications/topics.ts';
import { clockWords, momentWords, shortWords, typedWords } from '../../dashboard/src/pages/moment/words.ts';
import { causeOf } from '../../dashboard/src/pages/requests/cause.ts';
import { decidedAs, whoIs } from '../../dashboard/src/pages/visitors/who.ts';

test('a past request that was refused or warned of says by what', () => {
  const names = { restriction: (id: string) => ({ name: `R ${id}` }) };
  const of = (fields: Partial<Decision>) =>
    causeOf(
      {
        id: 'dec_1',
        gateway: 'dst_1',
        at: '',
        kind: 'https',
        verdict: 'refused',
        edge_id: 'e',
        client_ip: '',
        ...fields,
      },
      names,
    );
  assert.equal(of({ verdict: 'allowed', restrictions: ['ipx_1'], module: 'oidc', code: 1 }), undefined);
  assert.deepEqual(of({ restrictions: ['ipx_1'], module: 'ip_restriction' }), {
    text: 'IP restriction “R ipx_1”',
    to: '/ip-restrictions/ipx_1',
  });
  assert.deepEqual(
    of({ verdict: 'warned', restrictions: ['ipx_1', 'ipx_2', 'ipx_3'] })?.text,
    'IP restriction “R ipx_1” and 2 more',
  );
  assert.equal(of({ module: 'rate_limit', would_be_refused_by: 'basic_auth' })?.text, 'Rate limit');
  assert.equal(of({ verdict: 'warned', module: 'rate_limit', would_be_refused_by: 'basic_auth' })?.text, 'Password');
  assert.equal(of({ verdict: 'warned', module: 'oidc' })?.text, 'Sign-in (OpenID Connect)');
  assert.equal(of({ restrictions: [], reason: 'no backend', code: 20114 })?.text, 'no backend');
  assert.equal(of({ code: 20114 })?.text, 'Error 20114');
  assert.equal(of({})?.text, 'What decided was not kept');
});

test('somebody is named by the address, the name, or what the provider calls them', () => {
  assert.equal(whoIs({ email: 'a@b.example', name: 'Ada' }), 'a@b.example');
  assert.equal(whoIs({ email: '', name: 'Ada' }), 'Ada');
  assert.equal(whoIs({ email: '', name: '' }), 'Unknown to the provider');
  assert.equal(decidedAs({ email: 'a@b.example', provider_user_id: '7' }), 'a@b.example');
  assert.equal(decidedAs({ email: '', provider_user_id: '7' }), '7');
});

test('a moment is called by its time, in UTC, or by its version', () => {
  const moment = { version: 1_234, created_at: '2026-11-16T13:58:00Z' };
  const first = { version: 0, created_at: null };
  assert.equal(momentWords('1234', moment), '16 Nov 2026, 13:58:00 UTC');
  assert.equal(momentWords('2026-11-17T09:00:05Z', moment), '17 Nov 2026, 09:00:05 UTC');
  assert.equal(momentWords('0', first), 'version 0');
  assert.equal(shortWords('1234', moment), '13:58:00');
  assert.equal(shortWords('2026-11-17T09:00:05Z', moment), '09:00:05');
  assert.equal(shortWords('1234', { ...moment, created_at: null }), 'version 1,234');
  assert.equal(typedWords('1234', moment), '16 Nov 2026, 13:58:00');
  assert.equal(typedWords('1234', { ...moment, created_at: null }), '1,234');
  assert.equal(clockWords(Date.parse('2026-11-16T23:59:59.900Z')), '23:59:59');
});

test('who is told is named as people know it', () => {
  const of = (target: EventDestination['target'], description?: string): EventDestination => ({
    // What the words do not depend on is left out.
    ...({ id: 'ed_1' } as EventDestination),
    target,
    ...(description === undefined ? {} : { description }),
  });
  const targets = {
    email: targetOf('email', { to: ' a@b.example,c@d.example ;e@f.example ' }),
    webhook: targetOf('webhook', { url: ' https://h.example ', secret: 'whsec_1' }),
    syslog: targetOf('syslog', { host: 'logs.example', port: '' }),
    otlp: targetOf('otlp', { collector: 'https://o.example:4318' }),
    file: targetOf('file', { file: 'events.jsonl' }),
  };
  assert.deepEqual(targets, {
    email: { email: { to: ['a@b.example', 'c@d.example', 'e@f.example'] } },
    webhook: { webhook: { url: 'https://h.example', secret: 'whsec_1' } },
    syslog: { syslog: { host: 'logs.example' } },
    otlp: { otlp: { url: 'https://o.example:4318' } },
    file: { file: { name: 'events.jsonl' } },
  });
  assert.deepEqual(targetOf('syslog', { host: 'h', port: '6515' }), { syslog: { host: 'h', port: 6_515 } });
  // A destination shows what was given when it was made.
  const shown = (target: object) => of(target as EventDestination['target']);
  assert.equal(placeOf(shown(targets.email)), 'a@b.example, c@d.example, e@f.example');
  assert.equal(placeOf(shown(targets.webhook)), 'https://h.example');
  assert.equal(placeOf(shown({ syslog: { host: 'logs.example', port: 6_514, protocol: 'tls' } })), 'logs.example:6514');
  assert.equal(placeOf(shown(targets.otlp)), 'https://o.example:4318');
  assert.equal(placeOf(shown(targets.file)), 'events.jsonl');
  assert.equal(placeOf(shown({})), 'nowhere');
  assert.equal(placeOf(of(shown(targets.file).target, 'The night shift')), 'The night shift');
  assert.equal(placeOf(of(shown(targets.file).target, '')), 'events.jsonl');
  const kinds = [...Object.values(targets), { syslog: { host: 'h', port: 1, protocol: 'udp' } }].map((each) =>
    kindOf(shown(each)),
  );
  assert.deepEqual(kinds.toSpliced(2, 1), ['E-mail', 'Webhook', 'OpenTelemetry', 'File', 'Syslog, udp']);
});

test('a subscription is named by its topics, and by types that are of none as a whole', () => {
  const [first, second] = topics;
  assert.equal(wordsOf([]), 'Nothing');
  assert.equal(wordsOf(first?.types ?? []), first?.title);
  const both = wordsOf([...(second?.types ?? []), ...(first?.types ?? [])]);
  assert.equal(both, `${first?.title} · ${second?.title}`);
  assert.equal(wordsOf(['backend_down.v0', 'later.v0']), 'backend_down.v0 · later.v0');
  const many = Array.from({ length: 7 }, (_, at) => `t${at}`);
  assert.equal(wordsOf(many.slice(0, 6)), 't0 · t1 · t2 · t3 · t4 · t5');
  assert.equal(wordsOf(many), 't0 · t1 · t2 · t3 · t4 and 2 more');
});
