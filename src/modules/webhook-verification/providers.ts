/** How a provider signs its webhooks, as data. `verify.ts` reads it; `docs/webhooks.md` is generated from it. */
export interface Signing {
  /** The header that holds the signature, in lower case; with `*` at the end, all that begin so. Undefined: the body has it. */
  readonly header?: string;
  /** Text before the signature, which may be missing. */
  readonly prefix?: string;
  /** The name of the signature among `name=value` pairs with commas between them, of which several may be right. */
  readonly field?: string;
  /** The version of the signature among `version,signature` pairs with blanks between them. */
  readonly version?: string;
  /** Default `hmac`. `token`: the header is the secret itself. `basic`: its name and password. */
  readonly kind?: 'hmac' | 'hash' | 'ecdsa' | 'token' | 'basic';
  /** Default `sha256`. */
  readonly algorithm?: 'sha1' | 'sha256' | 'sha512';
  /** Default `hex`. */
  readonly encoding?: 'hex' | 'base64';
  /** Set where the secret is base64, with or without `whsec_` before it. */
  readonly key?: 'base64';
  /** The text that is signed; default `{body}`. Words in braces stand in `signed-text.ts`. */
  readonly signed?: string;
  /** The time of signing: in a header, in a field of the signature's header, or in the body. */
  readonly time?:
    | { readonly header: string }
    | { readonly field: string }
    /** In a JSON body that is signed whole. */
    | { readonly json: string }
    /** In a body that is JSON or a form, and is not signed but for this. */
    | { readonly body: string };
  /** Form of the time, where the text beside it could be taken for a part of it. */
  readonly timeForm?: RegExp;
  /** Older ones, and those that are so far in the future, are refused. Default 300. */
  readonly maxAgeSeconds?: number;
  /** Methods of its webhooks; undefined: any. */
  readonly methods?: readonly string[];
  /** Characters of which a body begins with one, after blanks. Others may have been signed for another purpose. */
  readonly begins?: readonly string[];
  /** Form of the secrets that sign in this way; undefined: any. */
  readonly secretForm?: RegExp;
}

export interface Provider {
  readonly title: string;
  /**
   * The first one whose header is there decides. Whoever sends chooses by that: ways of one provider sign equally much, and
   * an older one that signs less is a provider of its own, which settings ask for by name.
   */
  readonly ways: readonly Signing[];
  /** Asks of the provider that the gateway answers by itself: `challenges.ts`. */
  readonly challenge?: 'twitter' | 'worldline' | 'xero' | 'zoom';
}

const base64 = { encoding: 'base64' } as const;
const sha1 = { algorithm: 'sha1' } as const;

/** A signature of the body alone. */
const ofBody = (title: string, header: string, rest: Signing = {}): Provider => ({
  title,
  ways: [{ header, ...rest }],
});

/** `t=…,v1=…` over time and body. */
const inFields = (title: string, header: string, maxAgeSeconds = 300, field = 'v1', time = 't'): Provider => ({
  title,
  ways: [{ header, field, signed: '{time}.{body}', time: { field: time }, maxAgeSeconds }],
});

/** A signature over a version, a time that another header has, and the body. */
const withVersion = (title: string, header: string, version: string, timeHeader: string): Provider => ({
  title,
  ways: [
    {
      header,
      prefix: `${version}=`,
      signed: `${version}:{time}:{body}`,
      time: { header: timeHeader },
      maxAgeSeconds: 300,
    },
  ],
});

/** Standard Webhooks; Svix had its own names for the headers before. */
const standardWay = (prefix: string): Signing => ({
  header: `${prefix}-signature`,
  version: 'v1',
  encoding: 'base64',
  key: 'base64',
  signed: `{id:${prefix}-id}.{time}.{body}`,
  time: { header: `${prefix}-timestamp` },
  maxAgeSeconds: 300,
});
const standard = (title: string): Provider => ({ title, ways: [standardWay('webhook'), standardWay('svix')] });

const meta = (title: string): Provider => ofBody(title, 'x-hub-signature-256', { prefix: 'sha256=' });

/** By the id that settings name, which may be in any case. */
export const providers: ReadonlyMap<string, Provider> = new Map<string, Provider>([
  ['aftership', ofBody('AfterShip', 'aftership-hmac-sha256', base64)],
  [
    'airship',
    {
      title: 'Airship',
      ways: [{ header: 'x-ua-signature', signed: '{time}:{body}', time: { header: 'x-ua-timestamp' } }],
    },
  ],
  ['alchemy', ofBody('Alchemy', 'x-alchemy-signature')],
  ['autodesk', ofBody('Autodesk Platform Services', 'x-adsk-signature', { ...sha1, prefix: 'sha1hash=' })],
  ['bitbucket', ofBody('Bitbucket', 'x-hub-signature', { prefix: 'sha256=' })],
  ['bolt', ofBody('Bolt', 'x-bolt-hmac-sha256', base64)],
  [
    'box',
    {
      title: 'Box',
      // One of each of its two keys.
      ways: [
        {
          header: 'box-signature-*',
          encoding: 'base64',
          signed: '{body}{time}',
          time: { header: 'box-delivery-timestamp' },
          maxAgeSeconds: 600,
        },
      ],
    },
  ],
  ['brex', standard('Brex')],
  ['buildkite', inFields('Buildkite', 'x-buildkite-signature', 300, 'signature', 'timestamp')],
  ['buildkite_token', ofBody('Buildkite, with a token in place of signatures', 'x-buildkite-token', { kind: 'token' })],
  ['calendly', inFields('Calendly', 'calendly-webhook-signature', 180)],
  ['castle', ofBody('Castle', 'x-castle-signature', base64)],
  ['chargify', ofBody('Chargify', 'x-chargify-webhook-signature-hmac-sha-256')],
  ['circleci', ofBody('CircleCI', 'circleci-signature', { field: 'v1' })],
  ['clearbit', ofBody('Clearbit', 'x-request-signature', { ...sha1, prefix: 'sha1=' })],
  ['clerk', standard('Clerk')],
  ['coinbase', ofBody('Coinbase Commerce', 'x-cc-webhook-signature')],
  [
    'contentful',
    {
      title: 'Contentful',
      ways: [
        {
          header: 'x-contentful-signature',
          signed: '{method}\n{path}\n{contentfulHeaders}\n{body}',
          time: { header: 'x-contentful-timestamp' },
          maxAgeSeconds: 30,
        },
      ],
    },
  ],
  ['docusign', ofBody('DocuSign', 'x-docusign-signature-*', base64)],
  ['dropbox', ofBody('Dropbox', 'x-dropbox-signature')],
  ['facebook_graph_api', meta('Facebook Graph API')],
  ['facebook_messenger', meta('Facebook Messenger')],
  ['frameio', withVersion('Frame.io', 'x-frameio-signature', 'v0', 'x-frameio-request-timestamp')],
  ['github', meta('GitHub')],
  [
    'gitlab',
    {
      title: 'GitLab',
      ways: [
        { ...standardWay('webhook'), secretForm: /^whsec_/ },
        { header: 'x-gitlab-token', kind: 'token', secretForm: /^(?!whsec_)/ },
      ],
    },
  ],
  ['go1', inFields('Go1', 'go1-signature', 60)],
  [
    'graphcms',
    {
      title: 'Hygraph',
      ways: [
        {
          header: 'gcms-signature',
          field: 'sign',
          encoding: 'base64',
          signed: '{"Body":{jsonBody},"EnvironmentName":"{field:env}","TimeStamp":{time}}',
          time: { field: 't' },
        },
      ],
    },
  ],
  ['heroku', ofBody('Heroku', 'heroku-webhook-hmac-sha256', base64)],
  [
    'hubspot',
    {
      title: 'HubSpot',
      ways: [
        {
          header: 'x-hubspot-signature-v3',
          encoding: 'base64',
          signed: '{method}{hubspotUrl}{body}{time}',
          time: { header: 'x-hubspot-request-timestamp' },
          timeForm: /^\d{13}$/,
        },
      ],
    },
  ],
  [
    'hubspot_v1',
    // A signature of the second version is one over a text that begins with the method.
    ofBody('HubSpot, version 1', 'x-hubspot-signature', {
      kind: 'hash',
      signed: '{secret}{body}',
      begins: ['[', '{'],
    }),
  ],
  [
    'hubspot_v2',
    ofBody('HubSpot, version 2', 'x-hubspot-signature', { kind: 'hash', signed: '{secret}{method}{url}{body}' }),
  ],
  ['instagram', meta('Instagram')],
  ['intercom', ofBody('Intercom', 'x-hub-signature', { ...sha1, prefix: 'sha1=' })],
  ['jira', ofBody('Jira', 'x-hub-signature', { prefix: 'sha256=' })],
  ['launch_darkly', ofBody('LaunchDarkly', 'x-ld-signature')],
  ['linear', ofBody('Linear', 'linear-signature', { time: { json: 'webhookTimestamp' }, maxAgeSeconds: 60 })],
  [
    'mailchimp',
    ofBody('Mailchimp Transactional', 'x-mandrill-signature', { ...sha1, ...base64, signed: '{url}{form}' }),
  ],
  [
    'mailgun',
    {
      title: 'Mailgun',
      // The body is not signed; deliveries are tried for eight hours.
      ways: [
        {
          signed: '{time}{mailgunToken}',
          time: { body: 'signature.timestamp' },
          timeForm: /^\d{10}$/,
          maxAgeSeconds: 28_800,
        },
      ],
    },
  ],
  ['microsoft_teams', ofBody('Microsoft Teams', 'authorization', { ...base64, prefix: 'HMAC ', key: 'base64' })],
  ['modern_treasury', ofBody('Modern Treasury', 'x-signature')],
  ['mongodb', ofBody('MongoDB Atlas', 'x-mms-signature', { ...sha1, ...base64 })],
  ['mux', inFields('Mux', 'mux-signature')],
  ['orb', withVersion('Orb', 'x-orb-signature', 'v1', 'x-orb-timestamp')],
  ['pagerduty', ofBody('PagerDuty', 'x-pagerduty-signature', { field: 'v1' })],
  ['pinwheel', withVersion('Pinwheel', 'x-pinwheel-signature', 'v2', 'x-timestamp')],
  [
    'plivo',
    ofBody('Plivo', 'x-plivo-signature-v3', { ...base64, signed: '{plivoUrl}.{nonce:x-plivo-signature-v3-nonce}' }),
  ],
  [
    'plivo_v2',
    ofBody('Plivo, version 2', 'x-plivo-signature-v2', {
      ...base64,
      signed: '{bareUrl}{nonce:x-plivo-signature-v2-nonce}',
    }),
  ],
  [
    'pusher',
    {
      title: 'Pusher',
      ways: [{ header: 'x-pusher-signature' }, { header: 'webhook-signature', algorithm: 'sha1' }],
    },
  ],
  [
    'sendgrid',
    {
      title: 'SendGrid',
      ways: [
        {
          header: 'x-twilio-email-event-webhook-signature',
          kind: 'ecdsa',
          encoding: 'base64',
          signed: '{time}{body}',
          time: { header: 'x-twilio-email-event-webhook-timestamp' },
        },
      ],
    },
  ],
  ['sentry', ofBody('Sentry', 'sentry-hook-signature')],
  ['shopify', ofBody('Shopify', 'x-shopify-hmac-sha256', base64)],
  ['signal_sciences', ofBody('Signal Sciences', 'x-sigsci-signature')],
  ['slack', withVersion('Slack', 'x-slack-signature', 'v0', 'x-slack-request-timestamp')],
  ['sonatype', ofBody('Sonatype Nexus', 'x-nexus-webhook-signature', sha1)],
  ['square', ofBody('Square', 'x-square-hmacsha256-signature', { ...base64, signed: '{url}{body}' })],
  ['standard_webhooks', standard('Standard Webhooks, from any sender')],
  ['stripe', inFields('Stripe', 'stripe-signature')],
  ['svix', standard('Svix')],
  [
    'terraform',
    {
      title: 'Terraform Cloud',
      ways: ['x-tfe-notification-signature', 'x-tfc-task-signature'].map((header) => ({ header, algorithm: 'sha512' })),
    },
  ],
  ['tiktok', inFields('TikTok', 'tiktok-signature', 300, 's')],
  [
    'trendmicro_conformity',
    {
      title: 'Trend Micro Conformity',
      ways: [{ header: 'x-conformity-signature' }, { header: 'x-trendmicro-signature' }],
    },
  ],
  ['twilio', ofBody('Twilio', 'x-twilio-signature', { ...sha1, ...base64, signed: '{twilioUrl}' })],
  [
    'twitter',
    {
      // Whoever asks has the token of a challenge signed by the same secret: a token is never a JSON object.
      ...ofBody('Twitter', 'x-twitter-webhooks-signature', {
        ...base64,
        prefix: 'sha256=',
        methods: ['POST'],
        begins: ['{'],
      }),
      challenge: 'twitter',
    },
  ],
  ['typeform', ofBody('Typeform', 'typeform-signature', { ...base64, prefix: 'sha256=' })],
  ['vmware', ofBody('VMware Workspace ONE', 'authorization', { kind: 'basic' })],
  ['webex', ofBody('Webex', 'x-spark-signature', sha1)],
  ['whatsapp', meta('WhatsApp')],
  ['worldline', { ...ofBody('Worldline', 'x-gcs-signature', base64), challenge: 'worldline' }],
  ['xero', { ...ofBody('Xero', 'x-xero-signature', base64), challenge: 'xero' }],
  [
    'zendesk',
    {
      title: 'Zendesk',
      ways: [
        {
          header: 'x-zendesk-webhook-signature',
          encoding: 'base64',
          signed: '{time}{body}',
          time: { header: 'x-zendesk-webhook-signature-timestamp' },
        },
      ],
    },
  ],
  ['zoom', { ...withVersion('Zoom', 'x-zm-signature', 'v0', 'x-zm-request-timestamp'), challenge: 'zoom' }],
]);

/** Other spellings of ids that are in use. */
const aliases: Readonly<Record<string, string>> = {
  hygraph: 'graphcms',
  launchdarkly: 'launch_darkly',
  signalsciences: 'signal_sciences',
  sonatype_nexus: 'sonatype',
  vmware_workspace: 'vmware',
};

/** Providers of the hosted service that are not verified here, and why. */
export const notOffered: ReadonlyMap<string, string> = new Map([
  ['hostedhooks', 'no public documentation says how it signs'],
  ['orbit', 'the service has ended, and no public documentation says how it signed'],
  [
    'sns',
    'its certificates would have to be fetched by the gateway for each visitor that names one; verify the message in the upstream server',
  ],
]);

export function findProvider(id: string): Provider | undefined {
  const lower = id.toLowerCase();
  return providers.get(aliases[lower] ?? lower);
}
