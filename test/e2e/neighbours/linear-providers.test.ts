import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server } from 'node:http';
import { after, before, suite, test } from 'node:test';

import { portOf } from '../../gateway/support/https-upstream.ts';
import { newSqlite } from '../../support/scratch.ts';
import { someOf } from '../../support/sample.ts';
import { fillers, pump, staysLinear } from './support/pumped.ts';
import { PumpedSite } from './support/pumped-site.ts';
import { RawVisitor } from './support/raw-visitor.ts';

const limitMs = 300_000;
const host = 'login.pumped.test';
const tokenHost = 'token.pumped.test';
/** Four times as many are still below the longest answer that is read. */
const answerSize = 15_000;

interface ProviderAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly text: string;
}

/** An identity provider of somebody hostile: every answer is what it is told to be. */
class HostileProvider implements Disposable {
  readonly #server: Server = createServer((request, response) => {
    const [, own = '', kind = ''] = /^(\/\w+)\/(.*)$/.exec(request.url ?? '') ?? [];
    this.asked.push(kind);
    const { status = 200, headers = {}, text } = this.#answerTo(own, kind);
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
  });
  readonly asked: string[] = [];
  metadata: ((usual: object) => ProviderAnswer) | undefined;
  token: ProviderAnswer = { text: '{}' };
  keys: ProviderAnswer = { text: '{"keys":[]}' };

  async listen(): Promise<void> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  get url(): string {
    return `http://127.0.0.1:${portOf(this.#server)}`;
  }

  [Symbol.dispose](): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  #answerTo(own: string, kind: string): ProviderAnswer {
    if (kind === 'token') return this.token;
    if (!kind.startsWith('.well-known')) return this.keys;
    const issuer = this.url + own;
    const usual = {
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/keys`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256', 'ES256'],
    };
    return this.metadata?.(usual) ?? { text: JSON.stringify(usual) };
  }
}

suite('the cost of what providers answer grows no faster than its size', { timeout: limitMs }, () => {
  let site: PumpedSite;
  const provider = new HostileProvider();
  let issuers = 0;
  before(async () => {
    await provider.listen();
    site = await PumpedSite.start(newSqlite());
    await site.addEdge(host);
    await site.addEdge(tokenHost);
  });
  after(async () => {
    await site[Symbol.asyncDispose]();
    provider[Symbol.dispose]();
  });

  /** Each issuer is asked once, as others know nothing of it. */
  const useNewIssuer = () =>
    site.set(host, 'oidc', {
      issuer: `${provider.url}/i${(issuers += 1)}`,
      client_id: 'gatehouse',
      client_secret: 'kept-to-myself-0123',
    });
  const begin = (visitor: RawVisitor) => visitor.ask(`GET / HTTP/1.1\r\nHost: ${host}\r\nAccept: text/html\r\n\r\n`);
  const finish = async (visitor: RawVisitor) => {
    const begun = await begin(visitor);
    const cookie = /\r\nset-cookie: ([^;\r]+)/i.exec(begun)?.[1] ?? assert.fail(begun);
    const state = /[?&]state=([^&\s]+)/.exec(begun)?.[1] ?? assert.fail(begun);
    const query = `code=c&state=${state}`;
    await visitor.ask(
      `GET /.gatehouse/sign-in/callback?${query} HTTP/1.1\r\nHost: ${host}\r\nCookie: ${cookie}\r\nAccept: text/html\r\n\r\n`,
    );
  };

  test('answers with tokens', { timeout: limitMs }, async () => {
    using visitor = new RawVisitor(site.httpsPort, host);
    await useNewIssuer();
    const usual = { access_token: 'a', token_type: 'Bearer', expires_in: 60 };
    const forms: readonly ((text: string) => ProviderAnswer)[] = [
      (text) => ({ text }),
      (text) => ({ text: JSON.stringify({ ...usual, id_token: text, scope: text }) }),
      (text) => ({ text: JSON.stringify({ ...usual, scope: text.split('') }) }),
      (text) => ({ text: JSON.stringify({ error: text, error_description: text }), status: 400 }),
    ];
    for (const filler of fillers)
      for (const [form, make] of forms.entries())
        await staysLinear(site.program, `answer ${form} of ${JSON.stringify(filler)}`, answerSize, async (size) => {
          const text = pump(filler, form === 2 ? size / 4 : size / (form === 0 ? 1 : 2));
          provider.token = make(text);
          await finish(visitor);
        });
    assert.ok(provider.asked.filter((kind) => kind === 'token').length > 20, 'the provider was asked');
  });

  test('headers of an answer', { timeout: limitMs }, async () => {
    using visitor = new RawVisitor(site.httpsPort, host);
    await useNewIssuer();
    for (const name of ['www-authenticate', 'content-type', 'set-cookie', 'location', 'cache-control'])
      for (const filler of someOf(fillers, 4, 'fillers of headers of a provider', name))
        await staysLinear(site.program, `${name}: ${JSON.stringify(filler)}`, 3000, async (size) => {
          const headers = { [name]: `a${pump(filler, size)}` };
          provider.token = { status: 401, headers, text: '{"error":"invalid_client"}' };
          await finish(visitor);
        });
  });

  test('metadata', { timeout: limitMs }, async () => {
    using visitor = new RawVisitor(site.httpsPort, host);
    const forms: readonly ((text: string, usual: object) => ProviderAnswer)[] = [
      (text) => ({ text }),
      (text, usual) => ({ text: JSON.stringify({ ...usual, authorization_endpoint: text, jwks_uri: text }) }),
      (text, usual) => ({ text: JSON.stringify({ ...usual, scopes_supported: text.split(''), issuer: text }) }),
      (text, usual) => ({ text: JSON.stringify({ ...usual, ...Object.fromEntries(text.split('').entries()) }) }),
    ];
    for (const filler of someOf(fillers, 4, 'fillers', 'metadata'))
      for (const [form, make] of forms.entries())
        await staysLinear(site.program, `metadata ${form} of ${JSON.stringify(filler)}`, answerSize, async (size) => {
          provider.metadata = (usual) => make(pump(filler, size / (form === 0 ? 1 : 8)), usual);
          await useNewIssuer();
          await begin(visitor);
        });
    provider.metadata = undefined;
  });

  test('keys of an issuer', { timeout: limitMs }, async () => {
    using visitor = new RawVisitor(site.httpsPort, tokenHost);
    const [head, payload] = [
      { alg: 'RS256', kid: 'k' },
      { iss: provider.url, aud: 'a', exp: 4e9 },
    ].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
    const forms: readonly ((text: string) => string)[] = [
      (text) => text,
      (text) => JSON.stringify({ keys: [{ kty: 'RSA', kid: 'k', alg: 'RS256', e: 'AQAB', n: text }] }),
      (text) => JSON.stringify({ keys: text.split('').map(() => ({ kty: 'RSA', kid: 'k', e: 'AQAB', n: 'AA' })) }),
      (text) => JSON.stringify({ keys: [{ kty: 'EC', crv: text, kid: 'k', x: text, y: text }] }),
    ];
    for (const filler of someOf(['A', 'a', '_', '=', ' ', '['], 2, 'fillers', 'keys'))
      for (const [form, make] of forms.entries())
        await staysLinear(site.program, `keys ${form} of ${filler}`, answerSize, async (size) => {
          provider.keys = { text: make(pump(filler, size / ([1, 1, 64, 4][form] ?? 1))) };
          await site.set(tokenHost, 'jwt_validation', {
            issuer: provider.url,
            audiences: ['a'],
            jwks_uri: `${provider.url}/k${(issuers += 1)}/keys`,
          });
          await visitor.ask(
            `GET / HTTP/1.1\r\nHost: ${tokenHost}\r\nAuthorization: Bearer ${head}.${payload}.${'A'.repeat(342)}\r\n\r\n`,
          );
        });
  });

  test('tokens', { timeout: limitMs }, async () => {
    using visitor = new RawVisitor(site.httpsPort, tokenHost);
    for (const filler of fillers)
      for (const start of ['', 'Bearer ', 'Bearer a.', 'Bearer a.b.'])
        await staysLinear(site.program, start + JSON.stringify(filler), 7000, (size) =>
          visitor.ask(`GET / HTTP/1.1\r\nHost: ${tokenHost}\r\nAuthorization: ${start}${pump(filler, size)}\r\n\r\n`),
        );
  });

  test('cookies and queries of a route with sign-in', { timeout: limitMs }, async () => {
    using visitor = new RawVisitor(site.httpsPort, host);
    await useNewIssuer();
    const begun = await begin(visitor);
    const name = /\r\nset-cookie: ([^=;\r]+)/i.exec(begun)?.[1] ?? assert.fail(begun);
    const prefix = name.replace(/_login_.*/, '_');
    for (const filler of fillers) {
      for (const frame of [`${name}=`, prefix, `a=b; ${name}=`])
        await staysLinear(site.program, `${frame} ${JSON.stringify(filler)}`, 7000, (size) =>
          visitor.ask(`GET / HTTP/1.1\r\nHost: ${host}\r\nCookie: ${frame}${pump(filler, size)}; ${frame}x\r\n\r\n`),
        );
      if (/\s/.test(filler)) continue;
      for (const query of ['callback?state=', 'callback?code=c&state=', '?to=/', 'callback?'])
        await staysLinear(site.program, `${query} ${filler}`, 7000, (size) =>
          visitor.ask(`GET /.gatehouse/sign-in/${query}${pump(filler, size)} HTTP/1.1\r\nHost: ${host}\r\n\r\n`),
        );
    }
  });
});
