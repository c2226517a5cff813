import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { ConfigError, describeSettings, readConfig } from './config.ts';
import { parseIp } from './lib/ip/address.ts';

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
  'rate-limit': 'off',
  'log-level': 'info',
};

function faultsOf(environment: Record<string, string>, flags: readonly string[] = []): readonly string[] {
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
    const config = readConfig({}, []);
    assert.deepEqual(config.apiListen, { host: '127.0.0.1', port: 4040 });
    assert.equal(config.databaseUrl, 'sqlite:./data/gatehouse.db');
    assert.deepEqual(config.tcpPorts, { first: 10_000, last: 19_999 });
    assert.equal(config.rateLimit, undefined);
    assert.equal(config.bootstrapToken, undefined);
    assert.equal(config.vendor, undefined);
    assert.throws(() => Object.assign(config, { vendor: 'x' }), TypeError);
  });

  test('each is listed in the help with its two names and its default', () => {
    const help = describeSettings();
    for (const [name, fallback] of Object.entries(promised)) {
      const variable = `GATEHOUSE_${name.replaceAll('-', '_').toUpperCase()}`;
      const entry = help.split('\n  --').find((text) => text.replace(/^ *--/, '').startsWith(`${name},`));
      assert.ok(entry !== undefined && entry.includes(`${variable}\n`), name);
      if (fallback !== undefined) assert.ok(entry.includes(`(default: ${fallback})`), name);
    }
  });

  test('come from the environment or a flag, in both spellings of flags; the flag wins', () => {
    assert.equal(readConfig({ GATEHOUSE_VENDOR: 'ngrok' }, []).vendor, 'ngrok');
    assert.equal(readConfig({}, ['--vendor', 'ngrok']).vendor, 'ngrok');
    assert.equal(readConfig({}, ['--vendor=ngrok']).vendor, 'ngrok');
    assert.equal(readConfig({ GATEHOUSE_VENDOR: 'one' }, ['--vendor', 'two']).vendor, 'two');
    assert.equal(readConfig({}, ['--database-url=postgres://u:p@h/d?x=y']).databaseUrl, 'postgres://u:p@h/d?x=y');
    assert.equal(readConfig({ GATEHOUSE_RATE_LIMIT: '' }, []).rateLimit, undefined);
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
      },
      [],
    );
    assert.deepEqual(config.apiListen, { host: '::1', port: 0 });
    assert.deepEqual(config.tcpPorts, { first: 2000, last: 2000 });
    assert.equal(config.publicUrl, 'https://api.example.com');
    assert.equal(config.rateLimit, 120);
    assert.equal(config.httpsListen, undefined);
    const trusts = (text: string) => config.trustedProxies.lookup(parseIp(text) ?? assert.fail()) !== 0;
    assert.deepEqual(['10.1.2.3', '::1', '11.0.0.1'].map(trusts), [true, true, false]);
  });

  test('unknown names are refused: variables, flags, and words that belong to no flag', () => {
    const faults = faultsOf({ GATEHOUSE_VENDER: 'x', GATEHOUSE_: 'x', OTHER: 'x' }, ['--vender', 'x', 'word', '-v']);
    const named = ['GATEHOUSE_VENDER', 'GATEHOUSE_', '--vender', 'word', '-v'];
    assert.deepEqual(
      faults.map((fault) => fault.split(' ', 1)[0]),
      named,
    );
    assert.ok(faults.every((fault) => fault.includes('--help')));
    assert.equal(faultsOf({ gatehouse_vendor: 'x', MY_GATEHOUSE_X: 'x' }).length, 0);
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
    const faults = faultsOf(wrong, ['--https-listen', 'x', '--role']);
    assert.equal(faults.length, Object.keys(wrong).length + 2);
    for (const [name, value] of Object.entries(wrong)) {
      const fault = faults.find((text) => text.startsWith(`${name} `));
      assert.ok(fault, name);
      if (name !== 'GATEHOUSE_NOTHING') assert.ok(fault.includes(JSON.stringify(value)), fault);
    }
    assert.ok(faults.some((fault) => fault.startsWith('--https-listen ') && fault.endsWith(', or "off"')));
    assert.ok(faults.some((fault) => fault === '--role needs a value'));
  });

  test('bad values of every kind are refused', () => {
    const bad: Record<string, readonly string[]> = {
      'api-listen': ['', ':4040', 'localhost', 'localhost:', 'localhost:x', 'localhost:65536', '1.2.3.4:-1', '::1:80:'],
      'database-url': ['mysql://x', 'sqlite:', 'postgres:x', '/tmp/x.db', 'sqlite::memory:'],
      'bootstrap-token': ['short', 'x'.repeat(31), `${'x'.repeat(40)} y`, `${'x'.repeat(40)}é`, `${'x'.repeat(40)}\n`],
      vendor: ['NGROK', 'a-b', '1a', 'é'],
      'public-url': ['example.com', 'https://', 'https://u:p@h', 'https://h/?q', 'https://h/#f', 'javascript:x'],
      'trusted-proxies': ['x', '10.0.0.0/33', '10.0.0.1/8', 'localhost'],
      'tcp-ports': ['x', '80', '0-10', '10-65536', '1-2-3', '-1-5'],
      'rate-limit': ['0', '1.5', 'x', '1e3', 'OFF'],
      'log-level': ['', 'INFO', 'verbose'],
      role: ['', 'both'],
    };
    for (const [name, values] of Object.entries(bad)) {
      for (const value of values) assert.equal(faultsOf({}, [`--${name}=${value}`]).length, 1, `--${name}=${value}`);
    }
  });

  test('secrets are not repeated when they are wrong, or when their name is', () => {
    const secret = 'hunter2';
    const environment = {
      GATEHOUSE_BOOTSTRAP_TOKEN: secret,
      GATEHOUSE_SECRET_KEY: secret,
      GATEHOUSE_DATABASE_URL: `mysql://u:${secret}@h`,
      GATEHOUSE_BOOTSTRAP_TOKN: secret,
    };
    const flags = [`--bootstrap-tokn=${secret}`, '--secret-ky', secret, `--secret-key=${secret}`];
    const faults = faultsOf(environment, flags);
    assert.equal(faults.length, 6);
    assert.ok(!faults.join('\n').includes(secret), faults.join('\n'));
  });
});
