import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { parseIp } from '../lib/ip/address.ts';
import { ConfigError, describeSettings, readConfig } from './config.ts';
import type { Flags } from './config.ts';

/** The settings that operators were promised, with what they are when not given. */
const promised = {
  'api-listen': '127.0.0.1:4040',
  'database-url': 'sqlite:./data/gatehouse.db',
  'bootstrap-token': undefined,
  vendor: undefined,
  'public-url': undefined,
  'trusted-proxies': undefined,
  'tcp-ports': '10000-19999',
  'tcp-listen-host': '127.0.0.1',
  'https-listen': '127.0.0.1:8443',
  'rate-limit': '60000',
  'log-level': 'info',
};

function faultsOf(environment: Record<string, string>, flags: Flags = {}): readonly string[] {
  try {
    readConfig(environment, flags);
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    assert.ok(error.faults.every((fault) => error.message.includes(fault)));
    return error.faults;
  }
  return [];
}

describe('settings', () => {
  test('all have a default, and the whole is frozen', () => {
    const config = readConfig({}, {});
    assert.deepEqual(config.apiListen, { host: '127.0.0.1', port: 4040 });
    assert.equal(config.databaseUrl, 'sqlite:./data/gatehouse.db');
    assert.deepEqual(config.tcpPorts, { first: 10_000, last: 19_999 });
    assert.equal(config.rateLimit, 60_000);
    assert.equal(config.bootstrapToken, undefined);
    assert.equal(config.vendor, undefined);
    assert.throws(() => Object.assign(config, { vendor: 'x' }), TypeError);
  });

  test('each has a flag and a variable of one name, and its default', () => {
    const described = new Map(describeSettings().map((each) => [each.flag, each]));
    for (const [name, fallback = ''] of Object.entries(promised)) {
      const { variable, fallback: actual } = described.get(`--${name}`) ?? assert.fail(name);
      assert.deepEqual([variable, actual], [`GATEHOUSE_${name.replaceAll('-', '_').toUpperCase()}`, fallback]);
    }
  });

  test('an address without host or port is answered with how to write it', () => {
    for (const [apiListen, said] of [
      ['24050', /write it as host:port, such as 127\.0\.0\.1:24050/],
      ['127.0.0.1', /it has no port: write it as host:port, such as 127\.0\.0\.1:4040/],
      [':24050', /it has no host: for all addresses of the machine write 0\.0\.0\.0:24050/],
      ['http://a:80', /starts with "http:\/\/".*write a:80/],
    ] as const) {
      assert.match(faultsOf({}, { apiListen }).join(), said);
    }
  });

  test('come from the environment or a flag; the flag wins, and an empty variable is none', () => {
    assert.equal(readConfig({ GATEHOUSE_VENDOR: 'ngrok' }, {}).vendor, 'ngrok');
    assert.equal(readConfig({}, { vendor: 'ngrok' }).vendor, 'ngrok');
    assert.equal(readConfig({ GATEHOUSE_VENDOR: 'one' }, { vendor: 'two' }).vendor, 'two');
    assert.equal(readConfig({ GATEHOUSE_VENDOR: 'one' }, { vendor: '' }).vendor, undefined);
    assert.deepEqual(readConfig({ GATEHOUSE_TCP_PORTS: '' }, {}).tcpPorts, { first: 10_000, last: 19_999 });
  });

  test('are read into what the service works with', () => {
    const config = readConfig(
      {
        GATEHOUSE_API_LISTEN: '[::1]:0',
        GATEHOUSE_TRUSTED_PROXIES: '10.0.0.0/8, ::1',
        GATEHOUSE_TCP_PORTS: '2000-2000',
        GATEHOUSE_PUBLIC_URL: 'https://api.example.com/',
        GATEHOUSE_RATE_LIMIT: '120',
        GATEHOUSE_HTTPS_LISTEN: 'off',
        GATEHOUSE_SOURCE_CONNECTIONS: '32',
      },
      {},
    );
    assert.deepEqual(config.apiListen, { host: '::1', port: 0 });
    assert.deepEqual(config.tcpPorts, { first: 2000, last: 2000 });
    assert.equal(config.publicUrl, 'https://api.example.com');
    assert.equal(config.rateLimit, 120);
    assert.equal(config.httpsListen, undefined);
    assert.equal(config.sourceConnections, 32);
    assert.equal(config.clientConnections, undefined, 'auto');
    const trusts = (text: string) => config.trustedProxies.lookup(parseIp(text) ?? assert.fail()) !== 0;
    assert.deepEqual(['10.1.2.3', '::1', '11.0.0.1'].map(trusts), [true, true, false]);
  });

  test('servers that rules may ask are names with or without a port', () => {
    const read = (text: string) => readConfig({ GATEHOUSE_POLICY_REQUEST_HOSTS: text }, {}).policyRequestHosts;
    assert.deepEqual(read('API.example.com, *.example.org:65535,a.test:443,'), [
      'api.example.com',
      '*.example.org:65535',
      'a.test:443',
    ]);
    const faultOf = (text: string) => faultsOf({ GATEHOUSE_POLICY_REQUEST_HOSTS: `a.test,${text}` }).join();
    for (const port of ['0', '65536', '99999', '080', '-1', '', 'https', '1e3', ' 80'])
      assert.match(
        faultOf(`api.example.com:${port}`),
        /POLICY_REQUEST_HOSTS.*behind the colon of "api\.example\.com:.*" stands no port from 1 to 65535: write api\.example\.com:8443, or api\.example\.com for 80 and 443/,
        port,
      );
    for (const name of ['https://api.example.com', '10.0.0.1', '[::1]:80', '*', '*:80', 'a/b', ':80'])
      assert.match(faultOf(name), /is no host name.*write api\.example\.com or api\.example\.com:8443/, name);
  });

  test('a variable that is none is refused, with the name that was probably meant', () => {
    assert.deepEqual(faultsOf({ GATEHOUSE_VENDER: 'x', GATEHOUSE_TCP_PROTS: 'x', GATEHOUSE_: 'x', OTHER: 'x' }), [
      'GATEHOUSE_VENDER is not a setting. Did you mean GATEHOUSE_VENDOR?',
      'GATEHOUSE_TCP_PROTS is not a setting. Did you mean GATEHOUSE_TCP_PORTS?',
      'GATEHOUSE_ is not a setting; --help lists them all',
    ]);
    assert.equal(faultsOf({ gatehouse_vendor: 'x', MY_GATEHOUSE_X: 'x' }).length, 0);
    const ofAgent = { GATEHOUSE_SERVER: 'x', GATEHOUSE_CA: 'x', GATEHOUSE_AUTHTOKEN: 'x', GATEHOUSE_BASIC_AUTH: 'x' };
    assert.equal(faultsOf(ofAgent).length, 0, 'those of the agent may be set in the same shell');
  });

  test('every fault is told at once, each with its name, its value and what to write', () => {
    const wrong = {
      GATEHOUSE_API_LISTEN: 'nowhere',
      GATEHOUSE_VENDOR: 'Ngrok Inc',
      GATEHOUSE_PUBLIC_URL: 'ftp://x',
      GATEHOUSE_TRUSTED_PROXIES: '10.0.0.1/8, x',
      GATEHOUSE_TCP_PORTS: '2000-1000',
      GATEHOUSE_TCP_LISTEN_HOST: 'a b',
      GATEHOUSE_RATE_LIMIT: '-1',
      GATEHOUSE_LOG_LEVEL: 'loud',
      GATEHOUSE_NOTHING: '1',
    };
    const faults = faultsOf(wrong, { httpsListen: 'x' });
    assert.equal(faults.length, Object.keys(wrong).length + 1);
    for (const [name, value] of Object.entries(wrong)) {
      const fault = faults.find((text) => text.startsWith(`${name} `));
      assert.ok(fault, name);
      if (name !== 'GATEHOUSE_NOTHING') assert.ok(fault.includes(JSON.stringify(value)), fault);
    }
    assert.ok(faults.some((fault) => fault.startsWith('--https-listen ') && fault.endsWith(', or "off"')));
  });

  test('the role agents needs the listeners that it is for', () => {
    const off = { role: 'agents', agentListen: 'off', linkListen: 'off' };
    const faults = faultsOf({}, off);
    assert.equal(faults.length, 2);
    assert.match(faults.join(), /GATEHOUSE_AGENT_LISTEN "off".*GATEHOUSE_LINK_LISTEN "off"/);
    assert.deepEqual(faultsOf({}, { role: 'agents' }), []);
    assert.deepEqual(faultsOf({}, { ...off, role: 'gateway' }), []);
  });

  test('an identity provider needs all that belongs to it, and tokens stay on without one', () => {
    const good = {
      oidcIssuer: 'https://id.example.com/',
      oidcClientId: 'gatehouse',
      oidcClientSecret: 'a secret',
      publicUrl: 'https://gate.example.com',
    };
    const config = readConfig({}, { ...good, oidcScopes: 'openid, groups', oidcRules: 'group:ops=admin' });
    assert.deepEqual(config.oidcScopes, ['openid', 'groups']);
    assert.equal(config.oidcIssuer, 'https://id.example.com/', 'as the provider writes it');
    assert.equal(config.oidcRules.length, 1);
    assert.deepEqual(faultsOf({}, { ...good, dashboardTokenSignIn: 'off' }), []);
    const all = faultsOf({}, { oidcIssuer: good.oidcIssuer }).join('\n');
    for (const name of ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'PUBLIC_URL'])
      assert.match(all, new RegExp(`GATEHOUSE_${name}\\b.*give|GATEHOUSE_${name} is not given`), all);
    assert.match(faultsOf({}, { ...good, publicUrl: 'http://gate.example.com' }).join(), /must begin with https/);
    assert.match(faultsOf({}, { ...good, oidcIssuer: 'http://id.example.com' }).join(), /must begin with https/);
    assert.match(faultsOf({}, { oidcClientId: 'x' }).join(), /GATEHOUSE_OIDC_ISSUER is not given/);
    assert.match(faultsOf({}, { dashboardTokenSignIn: 'off' }).join(), /nobody could sign in/);
    assert.match(faultsOf({}, { oidcClientSecretFile: '/nowhere/at/all' }).join(), /cannot be read: name one/);
    assert.match(faultsOf({}, { ...good, oidcClientSecretFile: import.meta.filename }).join(), /printable/);
    assert.match(
      faultsOf({}, { oidcScopes: 'profile', oidcRules: 'ops=admin' }).join('\n'),
      /openid[^]*group:NAME=ROLE/,
    );
  });

  test('bad values of every kind are refused', () => {
    const bad: { readonly [Name in keyof Flags]: readonly string[] } = {
      apiListen: ['', ':4040', 'localhost', 'localhost:', 'localhost:x', 'localhost:65536', '1.2.3.4:-1', '::1:80:'],
      databaseUrl: ['mysql://x', 'sqlite:', 'postgres:x', '/tmp/x.db', 'sqlite::memory:'],
      bootstrapToken: ['short', 'x'.repeat(31), `${'x'.repeat(40)} y`, `${'x'.repeat(40)}é`, `${'x'.repeat(40)}\n`],
      vendor: ['NGROK', 'a-b', '1a', 'é'],
      publicUrl: ['example.com', 'https://', 'https://u:p@h', 'https://h/?q', 'https://h/#f', 'javascript:x'],
      trustedProxies: ['x', '10.0.0.0/33', '10.0.0.1/8', 'localhost'],
      tcpPorts: ['x', '80', '0-10', '10-65536', '1-2-3', '-1-5'],
      rateLimit: ['0', '1.5', 'x', '1e3', 'OFF'],
      sourceConnections: ['', '0', '-1', '1.5', 'off', 'AUTO'],
      backendQueue: ['-1', 'auto'],
      backendSourceConnections: ['', '0', '1.5', 'off'],
      backendSourceQueue: ['', '-1', 'off'],
      backendQueueSeconds: ['0', '1.5'],
      streamResets: ['0', 'auto', 'off'],
      logLevel: ['', 'INFO', 'verbose'],
      role: ['', 'both'],
      workers: ['', '0', '257', '1.5', 'AUTO'],
      linkListen: ['', 'nonsense'],
      linkAddress: ['10.0.0.5', '10.0.0.5:0'],
      linkUnreadMib: ['0', '65537'],
    };
    for (const [name, values] of Object.entries(bad)) {
      for (const value of values) assert.equal(faultsOf({}, { [name]: value }).length, 1, `${name}: ${value}`);
    }
  });

  test('workers are a number, or a word that the fault names', () => {
    assert.deepEqual(
      ['auto', 'off', '3'].map((workers) => readConfig({}, { workers }).workers),
      ['auto', 'off', 3],
    );
    assert.match(faultsOf({}, { workers: 'many' }).join(), /"auto", "off" or a whole number/);
  });

  test('secrets are not repeated when they are wrong, or when their name is', () => {
    const secret = 'hunter2';
    const environment = {
      GATEHOUSE_BOOTSTRAP_TOKEN: secret,
      GATEHOUSE_DATABASE_URL: `mysql://u:${secret}@h`,
      GATEHOUSE_BOOTSTRAP_TOKN: secret,
    };
    const faults = faultsOf(environment, { secretKey: secret });
    assert.equal(faults.length, 4);
    assert.ok(!faults.join('\n').includes(secret), faults.join('\n'));
  });
});
