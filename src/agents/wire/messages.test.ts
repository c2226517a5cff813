import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { authMessage, authResponse, readAuth, readAuthResponse } from './auth.ts';
import { bindMessage, labelsMessage, optsMessage, readBindResponse, readLabelsResponse } from './bind-message.ts';
import { bindResponse } from './bind-response.ts';
import { readBind, readLabels, readPatch, readUnbind } from './bind.ts';
import {
  commandMessage,
  errorResponse,
  parseErrorText,
  readError,
  readStopTunnel,
  stopTunnelMessage,
} from './commands.ts';
import { MessageFault } from './fields.ts';
import { JsonReader } from './json-value.ts';
import type { JsonRead } from './json-value.ts';
import { proxyStart, readProxyHeader } from './proxy-header.ts';

type Message = Readonly<Record<string, unknown>>;

/** As the library in Rust sends it. */
const rustAuth: Message = {
  Version: ['3', '2'],
  ClientId: '',
  Extra: {
    OS: 'linux',
    Arch: 'x86_64',
    AuthToken: 'secret',
    Version: '1.7.0',
    ClientType: 'ngrok-javascript',
    UserAgent: 'ngrok-javascript/1.7.0 ngrok-rust/0.18.0',
    Hostname: '',
    Metadata: 'm',
    Cookie: '',
    HeartbeatInterval: 10_000_000_000,
    HeartbeatTolerance: 15_000_000_000,
    UpdateUnsupportedError: 'no callback',
    StopUnsupportedError: '',
    RestartUnsupportedError: null,
  },
};

/** As the old command-line agent sends it. */
const oldAuth: Message = { Version: ['2'], ClientId: 'c', Extra: { OS: 'linux', Authtoken: 'secret', Cookie: 'k' } };

function bindOf(opts: object, more: Message = {}): Message {
  return { Id: '', Proto: 'https', ForwardsTo: 'http://localhost', ForwardsProto: '', Opts: opts, Extra: {}, ...more };
}

function optionsOf(opts: object, proto = 'https'): unknown {
  const asked = readBind(bindOf(opts, { Proto: proto }));
  return asked.ok ? asked.request.options : asked.refused;
}

suite('Auth', () => {
  test('the form of newer agents', () => {
    const { token, version, agent } = readAuth(rustAuth);
    assert.deepEqual([token, version, agent.family, agent.metadata], ['secret', '3', 'rust', 'm']);
    assert.deepEqual(agent.supports, {
      stop: 'yes',
      restart: { reason: 'the agent is too old for it' },
      update: { reason: 'no callback' },
    });
  });

  test('the form of the old command-line agent', () => {
    const { token, version, clientId, cookie, agent } = readAuth(oldAuth);
    assert.deepEqual([token, version, clientId, cookie, agent.family], ['secret', '2', 'c', 'k', 'other']);
  });

  for (const clientType of ['ngrok-rust', 'ngrok-python', 'ngrok-java', 'ngrok-javascript']) {
    test(`${clientType} is of the Rust family`, () => {
      assert.equal(readAuth({ Extra: { ClientType: clientType } }).agent.family, 'rust');
    });
  }

  test('the Go library is not of the Rust family', () => {
    assert.equal(readAuth({ Extra: { ClientType: 'ngrok-go', UserAgent: 'ngrok-go/2.1.1' } }).agent.family, 'other');
  });

  test('versions that are not spoken here leave none', () => {
    assert.equal(readAuth({ Version: ['9', '1'] }).version, undefined);
  });

  test('the answer has the fields that the library in Rust needs', () => {
    const answer = authResponse({
      version: '3',
      clientId: 'c',
      cookie: 'k',
      sessionId: 'ts_1',
      region: 'r',
      accountName: 'a',
      serverVersion: 'v',
    });
    const extra = { Version: 'v', Region: 'r', AccountName: 'a', Cookie: 'k', AgentSessionID: 'ts_1' };
    assert.deepEqual(answer, { Version: '3', ClientId: 'c', Extra: extra });
  });
});

const wrongAuth: readonly (readonly [string, Message, RegExp])[] = [
  ['a token that is no text', { Extra: { AuthToken: 7 } }, /^Extra\.AuthToken must be a text$/],
  ['a token in two spellings', { Extra: { AuthToken: 'a', Authtoken: 'b' } }, /^Extra\.Authtoken is given twice$/],
  ['extras that are no object', { Extra: [] }, /^Extra must be an object$/],
  ['a version that is no list', { Version: '3' }, /^Version must be a list$/],
  ['long metadata', { Extra: { Metadata: 'x'.repeat(4097) } }, /^Extra\.Metadata must have at most 4096 bytes$/],
];

for (const [what, message, text] of wrongAuth) {
  test(`Auth with ${what} is refused`, () => {
    assert.throws(
      () => readAuth(message),
      (error) => error instanceof MessageFault && text.test(error.message),
    );
  });
}

suite('Bind', () => {
  test('names of newer and older agents', () => {
    const wanted = (opts: object): unknown => {
      const asked = readBind(bindOf(opts));
      return asked.ok && asked.request.wanted;
    };
    assert.deepEqual(wanted({ Domain: 'a.test' }), { url: '', domain: 'a.test', subdomain: '', addr: '' });
    assert.deepEqual(wanted({ Hostname: 'a.test' }), { url: '', domain: 'a.test', subdomain: '', addr: '' });
    assert.deepEqual(wanted({ URL: 'https://a.test' }), { url: 'https://a.test', domain: '', subdomain: '', addr: '' });
    assert.deepEqual(wanted({ Subdomain: 'a' }), { url: '', domain: '', subdomain: 'a', addr: '' });
  });

  test('the old command-line agent sends few fields', () => {
    const opts = { Hostname: '', Auth: 'user:pa:ss', Subdomain: '', HostHeaderRewrite: false, LocalURLScheme: 'http' };
    const asked = readBind({ Id: '', Proto: 'http', Opts: opts, Extra: { Token: '', IPPolicyRef: '', Metadata: '' } });
    assert.ok(asked.ok);
    assert.deepEqual(asked.request.options, {
      proxyProto: 0,
      basicAuth: [{ username: 'user', password: { plain: 'pa:ss' } }],
    });
    assert.deepEqual(asked.request.opts, opts);
  });

  test('options of TLS endpoints', () => {
    const pem = '-----BEGIN CERTIFICATE-----\n';
    const base64 = Buffer.from(pem).toString('base64');
    assert.deepEqual(optionsOf({ TLSTermination: {}, MutualTLSAtEdge: { mutual_tls_ca: base64 } }, 'tls'), {
      proxyProto: 0,
      tlsTermination: { pair: undefined },
      mutualTlsCa: pem,
    });
    assert.deepEqual(optionsOf({ TLSTermination: { cert: base64, key: base64 } }, 'tls'), {
      proxyProto: 0,
      tlsTermination: { pair: { cert: pem, key: pem } },
    });
  });

  test('options that nobody asked for are empty in many ways', () => {
    const none = { OAuth: null, OIDC: null, TrafficPolicy: '', Policy: null, HostHeaderRewrite: false, Future: [] };
    assert.deepEqual(optionsOf(none), { proxyProto: 0 });
  });

  test('the agent says that it rewrites the host header, which is its own affair', () => {
    assert.deepEqual(optionsOf({ HostHeaderRewrite: true }), { proxyProto: 0 });
    assert.deepEqual(optionsOf({ HostHeaderRewrite: true }, 'tcp'), ['HostHeaderRewrite']);
  });

  for (const [name, opts] of Object.entries({
    OAuth: { OAuth: { provider: 'google' } },
    OIDC: { oidc: { issuer_url: 'https://x.test' } },
    WebhookVerification: { WebhookVerification: { provider: 'slack' } },
    // Unknown today; a guard of tomorrow must not be dropped in silence.
    SAML: { SAML: {} },
  })) {
    test(`${name} is refused by its name`, () => {
      assert.deepEqual(optionsOf(opts), [name]);
    });
  }

  test('a traffic policy is a text, or the object of older agents', () => {
    assert.deepEqual(optionsOf({ TrafficPolicy: '{}' }), { proxyProto: 0, trafficPolicy: '{}' });
    assert.deepEqual(optionsOf({ Policy: { inbound: [] } }, 'tcp'), { proxyProto: 0, formerPolicy: { inbound: [] } });
    assert.throws(() => optionsOf({ Policy: 'x' }), MessageFault);
    assert.throws(() => optionsOf({ TrafficPolicy: {} }), MessageFault);
  });

  test('an option of another kind of endpoint is refused', () => {
    assert.deepEqual(optionsOf({ BasicAuth: { credentials: [] } }, 'tcp'), ['BasicAuth']);
    assert.deepEqual(optionsOf({ TLSTermination: {} }, 'https'), ['TLSTermination']);
  });

  test('a field that is not known is refused by its name, wherever it stands', () => {
    const refusedOf = (opts: object, more: Message = {}): unknown => {
      const asked = readBind(bindOf(opts, more));
      return asked.ok ? [] : asked.refused;
    };
    assert.deepEqual(refusedOf({ IPRestriction: { allow_cidrs: [], by_country: ['x'] } }), [
      'IPRestriction.by_country',
    ]);
    assert.deepEqual(refusedOf({ RequestHeaders: { add: ['a:b'], addParsed: {} } }), []);
    assert.deepEqual(refusedOf({ RequestHeaders: { addParsed: { a: 'b' } } }), ['RequestHeaders.addParsed']);
    assert.deepEqual(refusedOf({}, { Extra: { Guard: { a: 1 } } }), ['Extra.Guard']);
    assert.deepEqual(refusedOf({}, { Guard: true }), ['Guard']);
    assert.deepEqual(refusedOf({}, { Guard: null, Extra: { Guard: '' } }), []);
    assert.deepEqual(readLabels({ Labels: { a: 'b' }, Guard: {} }), { ok: false, refused: ['Guard'] });
  });

  test('a program that expects HTTP/2 is refused: streams carry HTTP/1.1', () => {
    const refused = { ok: false, refused: ['ForwardsProto "http2"'] };
    assert.deepEqual(readBind(bindOf({}, { ForwardsProto: 'http2' })), refused);
    assert.deepEqual(readLabels({ Labels: { a: 'b' }, ForwardsProto: 'http2' }), refused);
    assert.ok(readBind(bindOf({}, { ForwardsProto: 'http1' })).ok);
  });

  test('bindings other than public and internal, and policies by reference, are refused', () => {
    const refusedOf = (extra: object): unknown => {
      const asked = readBind(bindOf({}, { Extra: extra }));
      return asked.ok ? [] : asked.refused;
    };
    assert.deepEqual(refusedOf({ Bindings: ['public'] }), []);
    assert.deepEqual(refusedOf({ Bindings: null, IPPolicyRef: 'ipp_1' }), ['IPPolicyRef']);
    assert.deepEqual(refusedOf({ Bindings: ['internal'] }), []);
    assert.deepEqual(refusedOf({ Bindings: ['kubernetes'] }), ['Bindings "kubernetes"']);
    assert.deepEqual(refusedOf({ Bindings: ['public', 'internal'] }), ['Bindings with more than one']);
  });

  test('the answer has every field that the library in Rust needs, and what was sent', () => {
    const answer = bindResponse({
      id: 'tn_1',
      url: 'tcp://a:1',
      proto: 'tcp',
      opts: { Addr: 'a:1', X: 1 },
      token: 't',
    });
    assert.deepEqual(answer, {
      Id: 'tn_1',
      URL: 'tcp://a:1',
      Proto: 'tcp',
      Opts: { Addr: 'a:1', ProxyProto: 0, X: 1 },
      Extra: { Token: 't', TunnelID: 'tn_1' },
    });
  });
});

const wrongBinds: readonly (readonly [string, Message, RegExp])[] = [
  ['an unknown protocol', bindOf({}, { Proto: 'ssh' }), /^Proto must be one of "http", "https", "tcp", "tls"$/],
  ['an id that was never given', bindOf({}, { Id: '../x' }), /^Id must be an id/],
  ['a PROXY version of 3', bindOf({ ProxyProto: 3 }), /^Opts\.ProxyProto must be a number from 0 to 2$/],
  ['a PROXY version of a half', bindOf({ ProxyProto: 0.5 }), /^Opts\.ProxyProto must be 0, 1 or 2$/],
  ['a CIDR that is none', bindOf({ IPRestriction: { allow_cidrs: ['nowhere'] } }), /allow_cidrs holds "nowhere"/],
  [
    'a header that frames messages',
    bindOf({ RequestHeaders: { add: ['Transfer-Encoding: chunked'] } }),
    /RequestHeaders\.add/,
  ],
  ['a header with a line break', bindOf({ ResponseHeaders: { add: ['a:b\r\nc:d'] } }), /ResponseHeaders\.add/],
  ['a removed header that is none', bindOf({ RequestHeaders: { remove: ['a b'] } }), /RequestHeaders\.remove/],
  [
    'a breaker above 1',
    bindOf({ CircuitBreaker: { error_threshold: 2 } }),
    /error_threshold must be a number from 0 to 1/,
  ],
  ['a CA that is no base64', bindOf({ MutualTLSCA: { mutual_tls_ca: '-----BEGIN' } }), /mutual_tls_ca must be base64/],
  [
    'credentials without a password',
    bindOf({ BasicAuth: { credentials: [{ username: 'a' }] } }),
    /credentials must hold/,
  ],
  ['no credentials', bindOf({ BasicAuth: {} }), /credentials must not be empty/],
  ['credentials without a colon', bindOf({ Auth: 'user' }), /^Opts\.Auth must be/],
  ['a key that is sealed', bindOf({ TLSTermination: { sealed_key: 'x' } }, { Proto: 'tls' }), /sealed_key cannot/],
  ['an upstream protocol that is none', bindOf({}, { ForwardsProto: 'h3' }), /^ForwardsProto must be/],
  ['pooling that is no flag', bindOf({}, { Extra: { PoolingEnabled: 1 } }), /^Extra\.PoolingEnabled must be/],
];

for (const [what, message, text] of wrongBinds) {
  test(`Bind with ${what} is refused`, () => {
    assert.throws(
      () => readBind(message),
      (error) => error instanceof MessageFault && text.test(error.message),
    );
  });
}

suite('other messages', () => {
  test('labels keep their case and have no prototype', () => {
    const asked = readLabels({ Labels: JSON.parse('{"A":"b","a":"c","__proto__":"d"}') });
    assert.ok(asked.ok);
    assert.deepEqual(Object.entries(asked.request.labels), [
      ['A', 'b'],
      ['a', 'c'],
      ['__proto__', 'd'],
    ]);
  });

  for (const labels of [
    {},
    undefined,
    { a: 1 },
    { '': 'x' },
    Object.fromEntries(Array.from({ length: 17 }, (_, n) => [n, 'x'])),
  ]) {
    test(`labels ${JSON.stringify(labels)?.slice(0, 20)} are refused`, () => {
      assert.throws(() => readLabels({ Labels: labels }), MessageFault);
    });
  }

  test('Unbind and PatchTunnelState', () => {
    assert.equal(readUnbind({ Id: 'tn_1' }), 'tn_1');
    assert.deepEqual(readPatch({ TunnelId: 'tn_1', Metadata: 'm', PoolingEnabled: false, Name: null }), {
      ok: true,
      request: { tunnelId: 'tn_1', metadata: 'm', poolingEnabled: false },
    });
    assert.deepEqual(readPatch({ TunnelId: 'tn_1', TrafficPolicy: '' }), {
      ok: true,
      request: { tunnelId: 'tn_1', trafficPolicy: '' },
    });
    assert.deepEqual(readPatch({ TunnelId: 'tn_1', Guard: '{}' }), { ok: false, refused: ['Guard'] });
  });

  test('commands have every field that the library in Rust needs', () => {
    assert.deepEqual(commandMessage('stop'), { type: 5, body: {} });
    assert.deepEqual(commandMessage('restart'), { type: 4, body: {} });
    assert.deepEqual(commandMessage('update'), { type: 6, body: { Version: '', PermitMajorVersion: false } });
    assert.deepEqual(stopTunnelMessage({ tunnelId: 't', message: 'm', errorCode: 'c' }), {
      Id: 't',
      Message: 'm',
      ErrorCode: 'c',
    });
  });

  test('an error is a text with its code on a line of its own', () => {
    assert.deepEqual(errorResponse('text', 'ERR_1'), { Error: 'text\n\nERR_1' });
    assert.equal(readError({ Error: 'text' }), 'text');
    assert.equal(readError({ Error: '' }), undefined);
    assert.throws(() => readError({ Error: 1 }), MessageFault);
  });
});

suite('the header of a stream of a visitor', () => {
  const header = {
    tunnelId: 'tn_1',
    clientAddr: '[2001:db8::1]:4711',
    proto: 'https',
    edgeType: 'https',
    passthroughTls: false,
  } as const;

  test('has its length in little endian and all five fields', () => {
    const bytes = proxyStart(header, Buffer.from('first'));
    const json =
      '{"Id":"tn_1","ClientAddr":"[2001:db8::1]:4711","Proto":"https","EdgeType":"3","PassthroughTLS":false}';
    assert.equal(bytes.toString('hex', 0, 12), `00000003${Buffer.from([json.length]).toString('hex')}00000000000000`);
    assert.equal(bytes.toString('utf8', 12), `${json}first`);
  });

  test('is read back with the bytes behind it', () => {
    const bytes = proxyStart(header, Buffer.from('first')).subarray(4);
    assert.deepEqual(readProxyHeader(bytes), { state: 'done', header, rest: Buffer.from('first') });
    for (const length of [0, 7, 8, 50]) assert.deepEqual(readProxyHeader(bytes.subarray(0, length)), { state: 'more' });
  });

  test('with a large length or without an object is refused', () => {
    assert.equal(readProxyHeader(Buffer.alloc(8, 0xff)).state, 'bad');
    assert.equal(readProxyHeader(Buffer.from('\u0002\0\0\0\0\0\0\0[]')).state, 'bad');
    assert.equal(readProxyHeader(Buffer.from('\u0002\0\0\0\0\0\0\0{}')).state, 'bad');
  });
});

suite('a message without a length', () => {
  function readJson(text: string | Buffer, step = text.length): JsonRead {
    const reader = new JsonReader(200);
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += step) {
      const read = reader.push(bytes.subarray(at, at + step));
      if (read.state !== 'more') return read;
    }
    return { state: 'more' };
  }

  test('ends where its braces are balanced, whatever its texts hold', () => {
    const value = { a: '}"\\', b: [{ c: '{{' }], d: 'ü' };
    const text = ` \n${JSON.stringify(value)}\nrest`;
    for (const step of [1, 3, text.length]) assert.deepEqual(readJson(text, step), { state: 'done', value });
    assert.deepEqual(readJson('{"a":"}'), { state: 'more' });
  });

  for (const [fault, text] of [
    ['not an object', '[]'],
    ['not an object', '"{}"'],
    ['not an object', 'x{}'],
    ['not JSON', '{]'],
    ['not JSON', '{"a":}'],
    ['not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d])],
    ['too deep', '{"a":'.repeat(20)],
    ['too long', `{"a":"${'x'.repeat(300)}`],
  ] as const) {
    test(`${fault}: ${text.toString().slice(0, 12)}`, () => {
      assert.deepEqual(readJson(text), { state: 'bad', fault });
    });
  }
});

/** Messages as they are after their way over the wire. */
function sent(message: object): Message {
  // A message is an object, and stays one.
  return JSON.parse(JSON.stringify(message)) as Message;
}

suite('what our own agent writes, the server reads, and the other way round', () => {
  const agent = {
    os: 'linux',
    arch: 'x64',
    version: '1.2.3',
    clientType: 'gatehouse',
    userAgent: 'gatehouse/1.2.3',
    metadata: 'm',
    supports: { stop: 'yes', restart: 'yes', update: { reason: 'by its package' } },
  } as const;

  test('Auth', () => {
    const known = { clientId: 'c', cookie: 'k', token: 't' };
    const message = authMessage({ ...known, agent, heartbeatMs: 10_000, toleranceMs: 15_000 });
    assert.deepEqual(readAuth(sent(message)), { ...known, version: '3', agent: { ...agent, family: 'other' } });
    const answer = {
      version: '3',
      clientId: 'c',
      cookie: 'k',
      sessionId: 'ts_1',
      region: 'local',
      accountName: 'a',
      serverVersion: '0.1.0',
    };
    assert.deepEqual(readAuthResponse(sent(authResponse(answer))), answer);
    assert.throws(() => readAuthResponse({}), /ClientId is missing/);
  });

  test('Bind, with every option that it can ask for', () => {
    const opts = optsMessage(
      { domain: 'a.example' },
      {
        proxyProto: 2,
        ipRestriction: { allow: ['10.0.0.0/8'], deny: ['10.1.0.0/16'] },
        requestHeaders: { add: [['x-one', 'a:b']], remove: ['x-two'] },
        responseHeaders: { add: [], remove: ['x-three'] },
        compression: true,
        basicAuth: [{ username: 'u', password: 'p:q' }],
      },
    );
    const upstream = { url: 'http://localhost:3000', protocol: '' } as const;
    const message = bindMessage({
      id: 'tn_1',
      token: 'k',
      proto: 'https',
      upstream,
      metadata: 'm',
      poolingEnabled: true,
      opts,
    });
    const asked = readBind(sent(message));
    assert.ok(asked.ok);
    const { request } = asked;
    assert.deepEqual(
      [request.id, request.token, request.proto, request.upstream, request.metadata, request.poolingEnabled],
      ['tn_1', 'k', 'https', upstream, 'm', true],
    );
    assert.equal(request.wanted.domain, 'a.example');
    assert.deepEqual(request.options, {
      proxyProto: 2,
      ipRestriction: { allow: ['10.0.0.0/8'], deny: ['10.1.0.0/16'] },
      requestHeaders: { add: [['x-one', 'a:b']], remove: ['x-two'] },
      responseHeaders: { add: [], remove: ['x-three'] },
      compression: true,
      basicAuth: [{ username: 'u', password: { plain: 'p:q' } }],
    });
    const answer = { id: 'tn_1', url: 'https://a.example', opts: { ...opts, Domain: 'a.example' }, token: 'k' };
    const read = readBindResponse(sent(bindResponse({ ...answer, proto: 'https' })));
    assert.deepEqual([read.id, read.url, read.token], [answer.id, answer.url, answer.token]);
    assert.equal(read.opts['Domain'], 'a.example');
  });

  test('Bind without options asks for none', () => {
    const opts = optsMessage({ addr: 'h:1' }, { proxyProto: 0 });
    const message = { upstream: { url: '', protocol: '' }, metadata: '', poolingEnabled: false, opts } as const;
    const asked = readBind(sent(bindMessage({ id: '', token: '', proto: 'tcp', ...message })));
    assert.deepEqual(asked.ok && [asked.request.options, asked.request.wanted.addr], [{ proxyProto: 0 }, 'h:1']);
  });

  test('StartTunnelWithLabel', () => {
    const upstream = { url: 'tcp://localhost:22', protocol: '' } as const;
    const read = readLabels(sent(labelsMessage({ labels: { app: 'shop' }, upstream, metadata: 'm' })));
    assert.ok(read.ok);
    assert.deepEqual({ ...read.request.labels }, { app: 'shop' });
    assert.deepEqual([read.request.upstream, read.request.metadata], [upstream, 'm']);
    assert.equal(readLabelsResponse({ Id: 'tn_1' }), 'tn_1');
    assert.throws(() => readLabelsResponse({}), /Id is missing/);
  });

  test('StopTunnel', () => {
    const stop = { tunnelId: 'tn_1', message: 'no more', errorCode: 'ERR_X_1' };
    assert.deepEqual(readStopTunnel(sent(stopTunnelMessage(stop))), stop);
  });

  for (const prefix of ['ERR_GATEHOUSE_', 'ERR_NGROK_', 'ERR_']) {
    test(`the text and the number of an error with the prefix ${prefix}`, () => {
      const error = readError(sent(errorResponse('It is so.\nDo that.', `${prefix}334`)));
      assert.deepEqual(parseErrorText(error ?? ''), { text: 'It is so. Do that.', code: 334 });
    });
  }

  test('an error without a number', () => {
    assert.deepEqual(parseErrorText('just text'), { text: 'just text', code: undefined });
  });
});
