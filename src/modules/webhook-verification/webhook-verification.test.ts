import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { suite, test } from 'node:test';

import { UserError } from '../../errors/user-error.ts';
import { webhookVerification } from './index.ts';
import { createBodyCheck } from './service.ts';
import { findProvider, notOffered, providers } from './providers.ts';
import type { WholeRequest } from './signed-text.ts';

type Headers = Readonly<Record<string, string>>;

function requestOf(body: string, headers: Headers, rest: Partial<WholeRequest> = {}): WholeRequest {
  return {
    method: 'POST',
    urls: ['https://hooks.example.com/in?a=1', 'https://hooks.example.com:443/in?a=1'],
    headers: Object.entries(headers).flat(),
    body: Buffer.from(body),
    ...rest,
  };
}

function check(id: string, secret: string, request: WholeRequest, nowMs = Date.now()) {
  const bodyCheck = createBodyCheck(findProvider(id)!, secret, () => nowMs);
  return bodyCheck.refusesHead(request) ?? bodyCheck.check(request);
}

function assertRefused(outcome: unknown, reason: RegExp | undefined, about: string): void {
  assert(outcome instanceof UserError, `${about} passed`);
  assert.equal(outcome.status, about.startsWith('xero') ? 401 : 403, about);
  if (reason !== undefined) assert.match(outcome.message, reason, about);
}

interface Published {
  readonly id: string;
  readonly secret: string;
  readonly body: string;
  readonly headers: Headers;
  readonly at?: number | string;
  readonly url?: string;
  readonly method?: string;
}

const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
const slackBody =
  'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar' +
  '&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com' +
  '%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN' +
  '&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c';
const standardHeaders = (prefix: string): Headers => ({
  [`${prefix}-id`]: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  [`${prefix}-timestamp`]: '1614265330',
  [`${prefix}-signature`]: 'v1,bm90IHRoaXM= v1a,aGs= v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
});
const standardExample = (id: string, prefix: string): Published => ({
  id,
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  body: '{"test": 2432232314}',
  headers: standardHeaders(prefix),
  at: 1_614_265_330_000,
});
const boxExample = (secret: string): Published => ({
  id: 'box',
  secret,
  body: '{"type":"webhook_event","webhook":{"id":"1234567890"},"trigger":"FILE.UPLOADED","source":{"id":"1234567890","type":"file","name":"Test.txt"}}',
  headers: {
    'BOX-SIGNATURE-VERSION': '1',
    'BOX-SIGNATURE-PRIMARY': '6TfeAW3A1PASkgboxxA5yqHNKOwFyMWuEXny/FPD5hI=',
    'BOX-SIGNATURE-SECONDARY': 'v+1CD1Jdo3muIcbpv5lxxgPglOqMfsNHPV899xWYydo=',
    'BOX-DELIVERY-TIMESTAMP': '2020-01-01T00:00:00-07:00',
  },
  at: '2020-01-01T00:00:00-07:00',
});
const circleExample = (secret: string, body: string, signature: string): Published => ({
  id: 'circleci',
  secret,
  body,
  headers: { 'circleci-signature': `v1=${signature},v2=00` },
});
const hubspotSecret = 'yyyyyyyy-yyyy-yyyy-yyyy-yyyyyyyyyyyy';
const twilioUrl = 'https://mycompany.com/myapp.php?foo=1&bar=2';

/** Examples in the documentation or the libraries of the providers. */
const published: readonly Published[] = [
  {
    id: 'github',
    secret: "It's a Secret to Everybody",
    body: 'Hello, World!',
    headers: {
      'X-Hub-Signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
    },
  },
  {
    id: 'SLACK',
    secret: '8f742231b10e8888abcd99yyyzzz85a5',
    body: slackBody,
    headers: {
      'X-Slack-Signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
      'X-Slack-Request-Timestamp': '1531420618',
    },
    at: 1_531_420_618_000,
  },
  ...['standard_webhooks', 'svix', 'Clerk', 'brex', 'gitlab'].map((id) => standardExample(id, 'webhook')),
  standardExample('svix', 'svix'),
  {
    id: 'TWILIO',
    secret: '12345',
    body: 'CallSid=CA1234567890ABCDE&Caller=%2B14158675309&Digits=1234&From=%2B14158675309&To=%2B18005551212',
    headers: { ...form, 'X-Twilio-Signature': 'RSOYDt4T1cUTdK1PDd93/VVr8B8=' },
    url: twilioUrl,
  },
  {
    id: 'twilio',
    secret: '12345',
    body: '{"property": "value", "boolean": true}',
    headers: { 'Content-Type': 'application/json', 'X-Twilio-Signature': 'a9nBmqA0ju/hNViExpshrM61xv4=' },
    url: `${twilioUrl}&bodySHA256=0a1ff7634d9ab3b95db5c9a2dfe9416e41502b283a80c7cf19632632f96e6620`,
  },
  circleExample('secret', 'hello world', '734cc62f32841568f45715aeb9f4d7891324e6d948e4c6c60c0621cdac48623a'),
  circleExample('another-secret', 'lalala', 'daa220016c8f29a8b214fbfc3671aeec2145cfb1e6790184ffb38b6d0425fa00'),
  circleExample(
    'hunter123',
    'an-important-request-payload',
    '9be2242094a9a8c00c64306f382a7f9d691de910b4a266f67bd314ef18ac49fa',
  ),
  boxExample('SamplePrimaryKey'),
  boxExample('SampleSecondaryKey'),
  {
    id: 'sendgrid',
    secret:
      'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpVKS3GRqe62gw+2fNNRaINXvVpiglSI8eNEc6wEA3F+g==',
    body: `${JSON.stringify([
      {
        email: 'hello@world.com',
        event: 'dropped',
        reason: 'Bounced Address',
        sg_event_id: 'ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA',
        sg_message_id: 'LRzXl_NHStOGhQ4kofSm_A.filterdrecv-p3mdw1-756b745b58-kmzbl-18-5F5FC76C-9.0',
        'smtp-id': '<LRzXl_NHStOGhQ4kofSm_A@ismtpd0039p1iad1.sendgrid.net>',
        timestamp: 1_600_112_492,
      },
    ])}\r\n`,
    headers: {
      'X-Twilio-Email-Event-Webhook-Signature':
        'MEUCIGHQVtGj+Y3LkG9fLcxf3qfI10QysgDWmMOVmxG0u6ZUAiEAyBiXDWzM+uOe5W0JuG+luQAbPIqHh89M15TluLtEZtM=',
      'X-Twilio-Email-Event-Webhook-Timestamp': '1600112502',
    },
    at: 1_600_112_502_000,
  },
  {
    id: 'hubspot_v1',
    secret: hubspotSecret,
    body: '[{"eventId":1,"subscriptionId":12345,"portalId":62515,"occurredAt":1564113600000,"subscriptionType":"contact.creation","attemptNumber":0,"objectId":123,"changeSource":"CRM","changeFlag":"NEW","appId":54321}]',
    headers: {
      'X-HubSpot-Signature-Version': 'v1',
      'X-HubSpot-Signature': '232db2615f3d666fe21a8ec971ac7b5402d33b9a925784df3ca654d05f4817de',
    },
  },
  {
    id: 'hubspot_v2',
    secret: hubspotSecret,
    body: '',
    headers: {
      'X-HubSpot-Signature-Version': 'v2',
      'X-HubSpot-Signature': 'eee2dddcc73c94d699f5e395f4b9d454a069a6855fbfa152e91e88823087200e',
    },
    url: 'https://www.example.com/webhook_uri',
    method: 'GET',
  },
  {
    id: 'plivo_v2',
    secret: 'my_auth_token',
    body: '',
    headers: {
      'X-Plivo-Signature-V2': 'ehV3IKhLysWBxC1sy8INm0qGoQYdYsHwuoKjsX7FsXc=',
      'X-Plivo-Signature-V2-Nonce': '12345',
    },
    url: 'https://answer.url',
  },
];

/** Seconds after which a webhook is refused, of providers whose webhooks have a time of signing. */
const maxAges: Readonly<Record<string, number>> = {
  airship: 300,
  box: 600,
  brex: 300,
  buildkite: 300,
  calendly: 180,
  clerk: 300,
  contentful: 30,
  frameio: 300,
  gitlab: 300,
  go1: 60,
  graphcms: 300,
  hubspot: 300,
  linear: 60,
  mailgun: 28_800,
  mux: 300,
  orb: 300,
  pinwheel: 300,
  sendgrid: 300,
  slack: 300,
  standard_webhooks: 300,
  stripe: 300,
  svix: 300,
  tiktok: 300,
  zendesk: 300,
  zoom: 300,
};

test('examples that providers publish pass', () => {
  for (const { id, secret, body, headers, at, url, method = 'POST' } of published) {
    const request = requestOf(body, headers, { method, ...(url === undefined ? {} : { urls: [url] }) });
    const atMs = at === undefined ? Date.now() : new Date(at).getTime();
    assert.equal(check(id, secret, request, atMs), undefined, id);
    const maxAgeSeconds = maxAges[id.toLowerCase()];
    if (maxAgeSeconds === undefined) continue;
    assert.equal(check(id, secret, request, atMs + (maxAgeSeconds - 1) * 1000), undefined, `${id} nearly too old`);
    assertRefused(check(id, secret, request, atMs + (maxAgeSeconds + 1) * 1000), /was sent/, id);
  }
});

/** What OpenSSL has signed, by its arguments: each call is a process. */
const signatures = new Map<string, Buffer>();

/** Nothing of the code under test: OpenSSL signs. */
function openssl(
  algorithm: string,
  encoding: BufferEncoding,
  key: string | Buffer,
  ...text: readonly string[]
): string {
  const hexkey = Buffer.from(key).toString('hex');
  const args = ['dgst', `-${algorithm}`, '-mac', 'HMAC', '-macopt', `hexkey:${hexkey}`, '-binary'];
  const input = text.join('');
  const call = JSON.stringify([args, input]);
  const signature = signatures.get(call) ?? execFileSync('openssl', args, { input });
  signatures.set(call, signature);
  return signature.toString(encoding);
}

interface Signing {
  readonly secret: string;
  readonly body: string;
  /** In seconds. */
  readonly time: number;
  readonly url: string;
}
type Signer = (signing: Signing) => Headers;

const plain =
  (header: string, algorithm: string, encoding: BufferEncoding, prefix = ''): Signer =>
  ({ secret, body }) => ({ [header]: prefix + openssl(algorithm, encoding, secret, body) });
const timed =
  (header: string, timeHeader: string, text: (time: string, body: string) => string, prefix = ''): Signer =>
  ({ secret, body, time }) => ({
    [timeHeader]: String(time),
    [header]: prefix + openssl('sha256', 'hex', secret, text(String(time), body)),
  });
const fields =
  (header: string, timeField = 't', field = 'v1'): Signer =>
  ({ secret, body, time }) => ({
    [header]: `${timeField}=${time},${field}=${openssl('sha256', 'hex', secret, `${time}.${body}`)}`,
  });
const isoTimed =
  (
    header: string,
    timeHeader: string,
    encoding: BufferEncoding,
    text: (iso: string, body: string) => string,
    prefix = '',
  ): Signer =>
  ({ secret, body, time }) => {
    const iso = new Date(time * 1000).toISOString();
    return { [timeHeader]: iso, [header]: prefix + openssl('sha256', encoding, secret, text(iso, body)) };
  };
const standard: Signer = ({ secret, body, time }) => {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signature = openssl('sha256', 'base64', key, `msg_1.${time}.${body}`);
  return { 'webhook-id': 'msg_1', 'webhook-timestamp': String(time), 'webhook-signature': `v1,${signature}` };
};
const meta = plain('x-hub-signature-256', 'sha256', 'hex', 'sha256=');
const versioned = (header: string, version: string, timeHeader: string): Signer =>
  timed(header, timeHeader, (time, body) => `${version}:${time}:${body}`, `${version}=`);
const pairs = (body: string): string =>
  [...new URLSearchParams(body)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flat()
    .join('');

const key64 = Buffer.from('a key of 24 characters..').toString('base64');
const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const jsonBody = '{"event":"é","n":1}';
const formBody = 'b=2&a=%C3%A9&c=';

interface Example {
  readonly sign: Signer;
  readonly secret?: string;
  readonly body?: string;
  /** Where the body is not signed. */
  readonly isBodyFree?: true;
}

const examples: Readonly<Record<string, Example>> = {
  aftership: { sign: plain('aftership-hmac-sha256', 'sha256', 'base64') },
  airship: { sign: timed('X-UA-SIGNATURE', 'X-UA-TIMESTAMP', (time, body) => `${time}:${body}`) },
  alchemy: { sign: plain('X-Alchemy-Signature', 'sha256', 'hex') },
  autodesk: { sign: plain('x-adsk-signature', 'sha1', 'hex', 'sha1hash=') },
  bitbucket: { sign: plain('X-Hub-Signature', 'sha256', 'hex', 'sha256=') },
  bolt: { sign: plain('X-Bolt-Hmac-Sha256', 'sha256', 'base64') },
  box: { sign: isoTimed('BOX-SIGNATURE-PRIMARY', 'BOX-DELIVERY-TIMESTAMP', 'base64', (iso, body) => body + iso) },
  brex: { sign: standard, secret: key64 },
  buildkite: { sign: fields('X-Buildkite-Signature', 'timestamp', 'signature') },
  buildkite_token: { sign: ({ secret }) => ({ 'X-Buildkite-Token': secret }), isBodyFree: true },
  calendly: { sign: fields('Calendly-Webhook-Signature') },
  castle: { sign: plain('X-Castle-Signature', 'sha256', 'base64') },
  chargify: { sign: plain('X-Chargify-Webhook-Signature-Hmac-Sha-256', 'sha256', 'hex') },
  circleci: { sign: plain('circleci-signature', 'sha256', 'hex', 'v1=') },
  clearbit: { sign: plain('X-Request-Signature', 'sha1', 'hex', 'sha1=') },
  clerk: { sign: standard, secret: `whsec_${key64}` },
  coinbase: { sign: plain('X-CC-Webhook-Signature', 'sha256', 'hex') },
  contentful: {
    sign: ({ secret, body, time, url }) => {
      const names = 'content-type,x-contentful-signed-headers,x-contentful-timestamp';
      const listed = `content-type:text/x;x-contentful-signed-headers:${names};x-contentful-timestamp:${time}000`;
      const text = `POST\n${url.replace('https://hooks.example.com', '')}\n${listed}\n${body}`;
      return {
        'content-type': 'text/x',
        'x-contentful-signed-headers': names,
        'x-contentful-timestamp': `${time}000`,
        'x-contentful-signature': openssl('sha256', 'hex', secret, text),
      };
    },
  },
  docusign: {
    sign: ({ secret, body }) => ({
      'X-DocuSign-Signature-1': openssl('sha256', 'base64', 'another key', body),
      'X-DocuSign-Signature-2': openssl('sha256', 'base64', secret, body),
    }),
  },
  dropbox: { sign: plain('X-Dropbox-Signature', 'sha256', 'hex') },
  facebook_graph_api: { sign: meta },
  facebook_messenger: { sign: meta },
  frameio: { sign: versioned('X-Frameio-Signature', 'v0', 'X-Frameio-Request-Timestamp') },
  github: { sign: meta },
  gitlab: { sign: ({ secret }) => ({ 'X-Gitlab-Token': secret }), secret: 'a-token', isBodyFree: true },
  go1: { sign: fields('go1-signature') },
  graphcms: {
    sign: ({ secret, body, time }) => {
      const text = JSON.stringify({ Body: body, EnvironmentName: 'master', TimeStamp: time * 1000 });
      return { 'gcms-signature': `sign=${openssl('sha256', 'base64', secret, text)}, env=master, t=${time}000` };
    },
  },
  heroku: { sign: plain('Heroku-Webhook-Hmac-SHA256', 'sha256', 'base64') },
  hubspot: {
    sign: ({ secret, body, time, url }) => ({
      'X-HubSpot-Request-Timestamp': `${time}000`,
      'X-HubSpot-Signature-v3': openssl('sha256', 'base64', secret, `POST${url}${body}${time}000`),
    }),
  },
  hubspot_v1: {
    sign: ({ secret, body }) => ({
      'X-HubSpot-Signature': createHash('sha256')
        .update(secret + body)
        .digest('hex'),
    }),
  },
  hubspot_v2: {
    sign: ({ secret, body, url }) => ({
      'X-HubSpot-Signature': createHash('sha256').update(`${secret}POST${url}${body}`).digest('hex'),
    }),
  },
  instagram: { sign: meta },
  intercom: { sign: plain('X-Hub-Signature', 'sha1', 'hex', 'sha1=') },
  jira: { sign: plain('X-Hub-Signature', 'sha256', 'hex', 'sha256=') },
  launch_darkly: { sign: plain('X-LD-Signature', 'sha256', 'hex') },
  linear: { sign: plain('Linear-Signature', 'sha256', 'hex'), body: '{"webhookTimestamp":TIME000}' },
  mailchimp: {
    sign: ({ secret, body, url }) => ({
      ...form,
      'X-Mandrill-Signature': openssl('sha1', 'base64', secret, url + pairs(body)),
    }),
    body: formBody,
  },
  mailgun: { sign: () => ({}), body: 'MAILGUN', isBodyFree: true },
  microsoft_teams: {
    sign: ({ secret, body }) => ({
      Authorization: `HMAC ${openssl('sha256', 'base64', Buffer.from(secret, 'base64'), body)}`,
    }),
    secret: key64,
  },
  modern_treasury: { sign: plain('X-Signature', 'sha256', 'hex') },
  mongodb: { sign: plain('X-MMS-Signature', 'sha1', 'base64') },
  mux: { sign: fields('Mux-Signature') },
  orb: { sign: isoTimed('X-Orb-Signature', 'X-Orb-Timestamp', 'hex', (iso, body) => `v1:${iso}:${body}`, 'v1=') },
  pagerduty: {
    sign: ({ secret, body }) => ({
      'X-PagerDuty-Signature': `v1=${openssl('sha256', 'hex', 'another', body)},v1=${openssl('sha256', 'hex', secret, body)}`,
    }),
  },
  pinwheel: { sign: versioned('x-pinwheel-signature', 'v2', 'x-timestamp') },
  plivo: {
    sign: ({ secret, body, url }) => ({
      ...form,
      'X-Plivo-Signature-V3-Nonce': '17',
      'X-Plivo-Signature-V3': openssl('sha256', 'base64', secret, `${url}.${pairs(body)}.17`),
    }),
    body: formBody,
  },
  plivo_v2: {
    sign: ({ secret, url }) => ({
      'X-Plivo-Signature-V2-Nonce': '17',
      'X-Plivo-Signature-V2': openssl('sha256', 'base64', secret, `${url.replace('?a=1', '')}17`),
    }),
    isBodyFree: true,
  },
  pusher: { sign: plain('X-Pusher-Signature', 'sha256', 'hex') },
  sendgrid: {
    sign: ({ body, time }) => ({
      'X-Twilio-Email-Event-Webhook-Timestamp': String(time),
      'X-Twilio-Email-Event-Webhook-Signature': sign('sha256', Buffer.from(time + body), privateKey).toString('base64'),
    }),
    secret: publicKey.export({ format: 'der', type: 'spki' }).toString('base64'),
  },
  sentry: { sign: plain('Sentry-Hook-Signature', 'sha256', 'hex') },
  shopify: { sign: plain('X-Shopify-Hmac-Sha256', 'sha256', 'base64') },
  signal_sciences: { sign: plain('X-SigSci-Signature', 'sha256', 'hex') },
  slack: { sign: versioned('X-Slack-Signature', 'v0', 'X-Slack-Request-Timestamp') },
  sonatype: { sign: plain('X-Nexus-Webhook-Signature', 'sha1', 'hex') },
  square: {
    sign: ({ secret, body, url }) => ({
      'X-Square-HmacSha256-Signature': openssl('sha256', 'base64', secret, url + body),
    }),
  },
  standard_webhooks: { sign: standard, secret: `whsec_${key64}` },
  stripe: { sign: fields('Stripe-Signature') },
  svix: { sign: standard, secret: `whsec_${key64}` },
  terraform: { sign: plain('X-TFE-Notification-Signature', 'sha512', 'hex') },
  tiktok: { sign: fields('TikTok-Signature', 't', 's') },
  trendmicro_conformity: { sign: plain('X-Conformity-Signature', 'sha256', 'hex') },
  twilio: {
    sign: ({ secret, body, url }) => ({
      ...form,
      'X-Twilio-Signature': openssl('sha1', 'base64', secret, url + pairs(body)),
    }),
    body: formBody,
  },
  twitter: { sign: plain('x-twitter-webhooks-signature', 'sha256', 'base64', 'sha256=') },
  typeform: { sign: plain('Typeform-Signature', 'sha256', 'base64', 'sha256=') },
  vmware: {
    sign: ({ secret }) => ({ Authorization: `Basic ${Buffer.from(secret.replace('::', ':')).toString('base64')}` }),
    secret: 'ada::pass:word',
    isBodyFree: true,
  },
  webex: { sign: plain('X-Spark-Signature', 'sha1', 'hex') },
  whatsapp: { sign: meta },
  worldline: { sign: plain('X-GCS-Signature', 'sha256', 'base64') },
  xero: { sign: plain('x-xero-signature', 'sha256', 'base64') },
  zendesk: {
    sign: isoTimed(
      'X-Zendesk-Webhook-Signature',
      'X-Zendesk-Webhook-Signature-Timestamp',
      'base64',
      (iso, body) => iso + body,
    ),
  },
  zoom: { sign: versioned('x-zm-signature', 'v0', 'x-zm-request-timestamp') },
};

suite('each provider', () => {
  test('has an example', () => {
    assert.deepEqual(Object.keys(examples).toSorted(), [...providers.keys()].toSorted());
  });

  for (const [id, { sign: signer, secret = 'a secret', body = jsonBody, isBodyFree }] of Object.entries(examples)) {
    test(id, () => {
      const url = 'https://hooks.example.com/in?a=1';
      const nowMs = 1_700_000_000_000;
      const make = (ageSeconds: number): WholeRequest => {
        const time = nowMs / 1000 - ageSeconds;
        const mailgun = () =>
          `{"signature":{"timestamp":"${time}","token":"tok","signature":"${openssl('sha256', 'hex', secret, `${time}tok`)}"}}`;
        const text = body.replace('MAILGUN', mailgun).replace('TIME', String(time));
        return requestOf(text, signer({ secret, body: text, time, url }));
      };
      const request = make(0);
      assert.equal(check(id, secret, request, nowMs), undefined);
      assert.equal(check(id.toUpperCase(), secret, make(5), nowMs), undefined, 'some seconds old');
      if (id !== 'mailgun') assertRefused(check(id, secret, { ...request, headers: [] }, nowMs), /has no header/, id);
      const other =
        id === 'sendgrid'
          ? generateKeyPairSync('ec', { namedCurve: 'P-256' })
              .publicKey.export({ format: 'der', type: 'spki' })
              .toString('base64')
          : secret.replace(/^(whsec_)?./, '$1B');
      assertRefused(check(id, other, request, nowMs), undefined, id);
      if (isBodyFree === undefined)
        assertRefused(
          check(id, secret, { ...request, body: Buffer.from(`${request.body.toString()} `) }, nowMs),
          undefined,
          id,
        );
      const isTimed = findProvider(id)!.ways.some(({ time }) => time !== undefined);
      const maxAgeSeconds = maxAges[id];
      assert.equal(isTimed, maxAgeSeconds !== undefined, 'has a greatest age if it has a time');
      // Its example here has a token, which has no time; the published one is signed.
      if (maxAgeSeconds === undefined || id === 'gitlab') return;
      for (const age of [maxAgeSeconds + 1, -maxAgeSeconds - 1])
        assertRefused(check(id, secret, make(age), nowMs), /was sent \d+ seconds (?:ago|in the future)/, id);
      assert.equal(check(id, secret, make(maxAgeSeconds - 1), nowMs), undefined, 'nearly too old');
    });
  }
});

suite('what could be read otherwise', () => {
  const secret = 'a secret';
  const signed = (body: string): string => openssl('sha256', 'hex', secret, body);

  test('two signatures are none, and neither are two times', () => {
    const right = ['X-Hub-Signature-256', `sha256=${signed('x')}`];
    const request = { ...requestOf('x', {}), headers: [...right, ...right] };
    assertRefused(check('github', secret, request), /more than once/, 'two');
    const time = Math.round(Date.now() / 1000);
    const stripe = `t=1,t=${time},v1=${signed(`${time}.x`)}`;
    assertRefused(check('stripe', secret, requestOf('x', { 'stripe-signature': stripe })), /when it was sent/, 'times');
  });

  test('a list of signed headers without the time does not count', () => {
    const time = String(Date.now());
    const headers = {
      'x-contentful-signed-headers': 'x-contentful-signed-headers',
      'x-contentful-timestamp': time,
      'x-contentful-signature': signed('POST\n/in?a=1\nx-contentful-signed-headers:x-contentful-signed-headers\nx'),
    };
    assertRefused(check('contentful', secret, requestOf('x', headers)), /does not fit/, 'unsigned time');
  });

  test('signatures that are no hex or base64 are refused', () => {
    for (const value of ['', 'sha256=', 'sha256=zz', `sha256=${signed('x')}00`, signed('x').slice(2), 'é'])
      assertRefused(check('github', secret, requestOf('x', { 'X-Hub-Signature-256': value })), undefined, value);
  });

  test('a form has up to 1000 fields, and so has a query that is sorted', () => {
    const make = (count: number): string => Array.from({ length: count }, () => 'a=').join('&');
    const twilio = (count: number) => {
      const headers = {
        ...form,
        'X-Twilio-Signature': openssl('sha1', 'base64', secret, 'https://hooks.example.com/ina'),
      };
      return check('twilio', secret, requestOf(make(count), headers, { urls: ['https://hooks.example.com/in'] }));
    };
    const plivo = (count: number) => {
      const url = `https://hooks.example.com/in?${make(count)}`;
      const headers = {
        'X-Plivo-Signature-V3-Nonce': '17',
        'X-Plivo-Signature-V3': openssl('sha256', 'base64', secret, `${url}.17`),
      };
      return check('plivo', secret, requestOf('', headers, { urls: [url] }));
    };
    for (const [id, ask] of Object.entries({ twilio, plivo })) {
      assert.equal(ask(1000), undefined, id);
      assertRefused(ask(1001), /does not fit/, id);
    }
  });

  test('an older form of a signature counts only for whoever asks for it by name', () => {
    const body = '[{"eventId":1}]';
    const v1 = examples['hubspot_v1']!.sign({ secret, body, time: 0, url: '' });
    const url = 'https://hooks.example.com/in';
    const v2 = examples['plivo_v2']!.sign({ secret, body: '', time: 0, url });
    const version = { 'X-HubSpot-Signature-Version': 'v1' };
    assert.equal(check('hubspot_v1', secret, requestOf(body, { ...v1, ...version })), undefined);
    assertRefused(
      check('hubspot', secret, requestOf(body, { ...v1, ...version })),
      /no header x-hubspot-signature-v3/,
      'v1',
    );
    assertRefused(check('hubspot_v2', secret, requestOf(body, { ...v1, ...version })), /does not fit/, 'v1 as v2');
    assert.equal(check('plivo_v2', secret, requestOf('a=1', v2, { urls: [url] })), undefined);
    assertRefused(
      check('plivo', secret, requestOf('a=1', v2, { urls: [url] })),
      /no header x-plivo-signature-v3/,
      'v2',
    );
    const token = { 'X-Buildkite-Token': secret };
    assertRefused(check('buildkite', secret, requestOf('{}', token)), /no header x-buildkite-signature/, 'token');
    const signing = `whsec_${key64}`;
    assertRefused(
      check('gitlab', signing, requestOf('{}', { 'X-Gitlab-Token': signing })),
      /no header webhook-sig/,
      'whsec',
    );
    const standardHook = standard({ secret: key64, body: '{}', time: Math.round(Date.now() / 1000), url: '' });
    assertRefused(
      check('gitlab', key64, requestOf('{}', standardHook)),
      /no header x-gitlab-token/,
      'a token that is base64',
    );
  });

  test('a recorded signature of Plivo fits no other URL or body by another nonce', () => {
    const url = 'https://hooks.example.com/in?a=1';
    const signature = openssl('sha256', 'base64', secret, `${url}.b2.17`);
    const ask = (nonce: string, body: string, urls: readonly string[]) =>
      check(
        'plivo',
        secret,
        requestOf(body, { ...form, 'X-Plivo-Signature-V3': signature, 'X-Plivo-Signature-V3-Nonce': nonce }, { urls }),
      );
    assert.equal(ask('17', 'b=2', [url]), undefined);
    for (const nonce of ['b2.17', '', '1 7', '17.', '-17']) assertRefused(ask(nonce, '', [url]), /does not fit/, nonce);
    const bare = { 'X-Plivo-Signature-V2': openssl('sha256', 'base64', secret, 'https://hooks.example.com/in/x.17') };
    for (const nonce of ['/x.17', 'x.17', '.17'])
      assertRefused(
        check(
          'plivo_v2',
          secret,
          requestOf(
            'evil=1',
            { ...bare, 'X-Plivo-Signature-V2-Nonce': nonce },
            { urls: [`https://hooks.example.com/in/x.17`.slice(0, -nonce.length)] },
          ),
        ),
        /does not fit/,
        nonce,
      );
  });

  test('a digest of HubSpot that was lengthened does not count, and one version is not taken for the other', () => {
    const lengthened = Buffer.concat([Buffer.from('[]'), Buffer.from([0x80]), Buffer.alloc(45), Buffer.from('more')]);
    const digest = createHash('sha256').update(secret).update(lengthened).digest('hex');
    const request = { ...requestOf('', { 'X-HubSpot-Signature': digest }), body: lengthened };
    assertRefused(check('hubspot_v1', secret, request), /a byte 0/, 'lengthened');
    const url = 'https://hooks.example.com/in?a=1';
    const second = createHash('sha256').update(`${secret}POST${url}`).update(lengthened).digest('hex');
    assertRefused(
      check('hubspot_v2', secret, { ...request, headers: ['X-HubSpot-Signature', second] }),
      /a byte 0/,
      'lengthened, version 2',
    );
    const text = `POST${url}[]`;
    const headers = examples['hubspot_v2']!.sign({ secret, body: '[]', time: 0, url });
    assertRefused(check('hubspot_v1', secret, requestOf(text, headers)), /does not begin with \[ or \{/, 'v2 as v1');
  });

  test('the time of HubSpot is one of thirteen digits, and of Mailgun one of ten', () => {
    const url = 'https://hooks.example.com/in?a=1';
    // Sent in 1761763483314, whose last ten digits are a second that comes later.
    const signature = openssl('sha256', 'base64', secret, `POST${url}[]1761763483314`);
    const ask = (body: string, time: string, nowMs: number) =>
      check(
        'hubspot',
        secret,
        requestOf(body, { 'X-HubSpot-Signature-v3': signature, 'X-HubSpot-Request-Timestamp': time }),
        nowMs,
      );
    assert.equal(ask('[]', '1761763483314', 1_761_763_483_000), undefined);
    assertRefused(ask('[]176', '1763483314', 1_763_483_314_000), /when it was sent/, 'cut');
    const token = openssl('sha256', 'hex', secret, '1763483314123abc');
    const mailgun = (timestamp: string, own: string) =>
      check(
        'mailgun',
        secret,
        requestOf(JSON.stringify({ signature: { timestamp, token: own, signature: token } }), {}),
        1_763_483_314_000,
      );
    assert.equal(mailgun('1763483314', '123abc'), undefined);
    assertRefused(mailgun('1763483314123', 'abc'), /when it was sent/, 'digits of the token');
  });

  test('webhooks of Linear have their time in JSON, whatever type they are said to be of', () => {
    const nowMs = 1_700_000_000_000;
    const ask = (sentMs: number, headers: Headers) => {
      const body = JSON.stringify({ title: `&webhookTimestamp=${nowMs}&`, webhookTimestamp: sentMs });
      return check('linear', secret, requestOf(body, { ...headers, 'Linear-Signature': signed(body) }), nowMs);
    };
    for (const headers of [{}, form, { 'Content-Type': 'application/json' }] as const) {
      assert.equal(ask(nowMs, headers), undefined);
      assertRefused(ask(nowMs - 7_200_000, headers), /7200 seconds ago/, 'recorded');
    }
    const unsigned = requestOf('{"webhookTimestamp":1}', { 'Linear-Signature': signed('x') });
    assertRefused(check('linear', secret, unsigned, nowMs), /does not fit/, 'the time of an unsigned one is not read');
  });

  test('an id of Standard Webhooks does not take in the time and the body behind it', () => {
    const nowMs = 1_700_000_000_000;
    const key = `whsec_${key64}`;
    const recorded = `msg_1.1600000000.{"title":"x.${nowMs / 1000}.{}"}`;
    const signature = `v1,${openssl('sha256', 'base64', Buffer.from(key64, 'base64'), recorded)}`;
    for (const prefix of ['webhook', 'svix']) {
      const id = 'msg_1.1600000000.{"title":"x';
      const body = recorded.slice(`${id}.${nowMs / 1000}.`.length);
      const headers = {
        [`${prefix}-id`]: id,
        [`${prefix}-timestamp`]: String(nowMs / 1000),
        [`${prefix}-signature`]: signature,
      };
      assertRefused(check('svix', key, requestOf(body, headers), nowMs), /does not fit/, prefix);
    }
  });

  test('a form has one type, which is exactly that of forms', () => {
    const url = 'https://hooks.example.com/in?a=1';
    const signature = { 'X-Twilio-Signature': openssl('sha1', 'base64', secret, `${url}b2`) };
    const ask = (...types: readonly string[]) => {
      const request = requestOf('b=2', signature);
      return check('twilio', secret, {
        ...request,
        headers: [...request.headers, ...types.flatMap((type) => ['Content-Type', type])],
      });
    };
    const own = 'application/x-www-form-urlencoded';
    for (const type of [own, `${own}; charset=utf-8`, `${own} ;charset=utf-8`, own.toUpperCase()])
      assert.equal(ask(type), undefined, type);
    for (const types of [
      [own, own],
      [own, 'application/json'],
      ['application/json', own],
      [`${own}-x`],
      [`${own}/x`],
      [`${own} x`],
      [],
    ])
      assertRefused(ask(...types), /does not fit/, types.join());
  });

  test('a URL of Twilio with a digest of the body goes with that body alone, also as a form', () => {
    const digest = createHash('sha256').update('{"a":1}').digest('hex');
    const url = `https://hooks.example.com/in?bodySHA256=${digest}`;
    const headers = (signedUrl: string) => ({
      ...form,
      'X-Twilio-Signature': openssl('sha1', 'base64', secret, signedUrl),
    });
    assert.equal(check('twilio', secret, requestOf('{"a":1}', headers(url), { urls: [url] })), undefined);
    assertRefused(check('twilio', secret, requestOf('', headers(url), { urls: [url] })), /does not fit/, 'left out');
    const twice = `${url}&bodySHA256=00`;
    assertRefused(
      check('twilio', secret, requestOf('{"a":1}', headers(twice), { urls: [twice] })),
      /does not fit/,
      'two',
    );
  });

  test('a body without a form must be in the URL that Twilio signs', () => {
    const headers = { 'X-Twilio-Signature': openssl('sha1', 'base64', secret, 'https://hooks.example.com/in?a=1') };
    assert.equal(check('twilio', secret, requestOf('', headers)), undefined);
    assertRefused(check('twilio', secret, requestOf('{}', headers)), undefined, 'unsigned body');
  });

  test('a URL is known with and without its port', () => {
    for (const url of ['https://hooks.example.com/in?a=1', 'https://hooks.example.com:443/in?a=1']) {
      const headers = { 'X-Square-HmacSha256-Signature': openssl('sha256', 'base64', secret, `${url}x`) };
      assert.equal(check('square', secret, requestOf('x', headers)), undefined, url);
    }
  });
});

suite('challenges', () => {
  const secret = 'a secret';

  test('twitter gets its token signed, unless it could be a webhook', () => {
    const ask = (query: string) =>
      check('twitter', secret, requestOf('', {}, { method: 'GET', urls: [`https://h/?${query}`] }));
    const token = openssl('sha256', 'base64', secret, 'abc_-1');
    assert.deepEqual(JSON.parse((ask('crc_token=abc_-1') as { readonly body: string }).body), {
      response_token: `sha256=${token}`,
    });
    for (const query of ['', 'crc_token=', 'crc_token=%7B%22a%22%3A1%7D', `crc_token=${'a'.repeat(300)}`])
      assertRefused(ask(query), /no header/, query);
  });

  test('what a challenge has signed is no webhook, with any method, path and body', () => {
    for (const token of ['action=delete', '1', 'true', 'null', 'eyJhIjoxfQ==', 'a']) {
      const query = `crc_token=${encodeURIComponent(token)}`;
      const asked = requestOf('', {}, { method: 'GET', urls: [`https://h/?${query}`] });
      const answer = JSON.parse((check('twitter', secret, asked) as { readonly body: string }).body) as {
        readonly response_token: string;
      };
      const headers = { ...form, 'x-twitter-webhooks-signature': answer.response_token };
      for (const method of ['POST', 'PUT', 'DELETE', 'GET', 'HEAD', 'PATCH'])
        assertRefused(check('twitter', secret, requestOf(token, headers, { method })), undefined, `${method} ${token}`);
    }
  });

  test('webhooks of twitter are JSON objects that are posted', () => {
    const signed = (body: string, method = 'POST') =>
      check(
        'twitter',
        secret,
        requestOf(body, examples['twitter']!.sign({ secret, body, time: 0, url: '' }), { method }),
      );
    for (const body of ['{}', '{"for_user_id":"1"}', ' \t\r\n{"a":1}']) assert.equal(signed(body), undefined, body);
    for (const body of ['', ' ', '[{}]', '"{}"', 'a={}', '\v{}'])
      assertRefused(signed(body), /does not begin with \{/, body);
    for (const method of ['GET', 'PUT', 'DELETE', 'post'])
      assertRefused(signed('{}', method), /webhooks come with POST/, method);
  });

  test('worldline gets its word back', () => {
    const ask = (word: string) =>
      check('worldline', secret, requestOf('', { 'X-GCS-Webhooks-Endpoint-Verification': word }, { method: 'GET' }));
    const answer = ask('0123-ab') as { readonly body: string; readonly headers: readonly string[] };
    assert.equal(answer.body, '0123-ab');
    assert.equal(answer.headers[1], 'text/plain; charset=utf-8');
    assertRefused(ask('<script>'), /no header/, 'markup');
  });

  test('zoom gets its token signed, if it has signed the question', () => {
    const body = '{"event":"endpoint.url_validation","payload":{"plainToken":"qgg8vlvZRS6UYooatFL8Aw"}}';
    const time = String(Math.round(Date.now() / 1000));
    const signature = openssl('sha256', 'hex', secret, `v0:${time}:${body}`);
    const headers = { 'x-zm-request-timestamp': time, 'x-zm-signature': `v0=${signature}` };
    const answer = check('zoom', secret, requestOf(body, headers)) as { readonly body: string };
    assert.deepEqual(JSON.parse(answer.body), {
      plainToken: 'qgg8vlvZRS6UYooatFL8Aw',
      encryptedToken: openssl('sha256', 'hex', secret, 'qgg8vlvZRS6UYooatFL8Aw'),
    });
    assertRefused(check('zoom', 'another', requestOf(body, headers)), /does not fit/, 'unsigned');
  });

  test('zoom gets no token signed that could be the text of a webhook', () => {
    const time = String(Math.round(Date.now() / 1000));
    for (const plainToken of [`v0:${time}:{}`, '{}', '', 'a'.repeat(257)]) {
      const body = JSON.stringify({ event: 'endpoint.url_validation', payload: { plainToken } });
      const signature = openssl('sha256', 'hex', secret, `v0:${time}:${body}`);
      const headers = { 'x-zm-request-timestamp': time, 'x-zm-signature': `v0=${signature}` };
      assert.equal(check('zoom', secret, requestOf(body, headers)), undefined, plainToken);
    }
  });

  test('xero is told that signatures are checked', () => {
    const body = '{"events":[],"firstEventSequence":0,"lastEventSequence":0,"entropy":"S0m3r4Nd0mt3xt"}';
    const headers = { 'x-xero-signature': openssl('sha256', 'base64', secret, body) };
    assert.equal((check('xero', secret, requestOf(body, headers)) as { readonly status: number }).status, 200);
    assertRefused(check('xero', 'another', requestOf(body, headers)), /does not fit/, 'xero');
  });
});

suite('settings', () => {
  const accept = (body: object) => webhookVerification.accept(body as never);
  const refusal = (body: object): UserError => {
    try {
      accept(body);
    } catch (error) {
      if (error instanceof UserError) return error;
    }
    throw new Error('it was accepted');
  };

  test('a provider that is not known is refused with those that are, and one that is not offered with the reason', () => {
    const unknown = refusal({ provider: 'acme', secret: 's' });
    assert.deepEqual([unknown.status, unknown.code], [400, 364]);
    assert.match(unknown.message, /"acme".*no provider of this name.*github.*zoom/);
    for (const [id, reason] of notOffered) assert(refusal({ provider: id.toUpperCase() }).message.includes(reason), id);
  });

  test('other spellings are known', () => {
    for (const id of ['Sonatype_Nexus', 'signalsciences', 'vmware_workspace', 'LaunchDarkly'])
      assert.equal(accept({ provider: id, secret: 'a::b' }).provider, id);
  });

  test('a secret that can be none of the provider is refused', () => {
    for (const [provider, secret, words] of [
      ['svix', 'no base64!', /base64/],
      ['sendgrid', 'abc', /public key/],
      ['vmware', 'ada:pass', /"::"/],
    ] as const)
      assert.match(refusal({ provider, secret }).message, words);
  });

  test('a secret that is left out stays, as long as the provider does', () => {
    const { secrets } = webhookVerification;
    const stored = secrets!.seal!(
      secrets!.keep(accept({ provider: 'github', secret: 's3cret' }), undefined),
      (text) => `sealed ${text}`,
    );
    const { secret } = stored;
    assert(typeof secret === 'object' && secret.sealed === 'sealed s3cret' && secret.given === undefined);
    assert.deepEqual(
      webhookVerification.present(stored, () => ({ id: '', uri: '' })),
      { enabled: true, provider: 'github' },
    );
    assert.deepEqual(secrets!.keep(accept({ provider: 'GitHub', enabled: false }), stored), {
      ...stored,
      enabled: false,
      provider: 'GitHub',
    });
    for (const previous of [undefined, stored])
      assert.throws(() => secrets!.keep(accept({ provider: 'stripe' }), previous), /no secret for webhooks of stripe/);
    assert.throws(() => webhookVerification.build(stored), /cannot be verified/, 'one that does not open');
  });
});
