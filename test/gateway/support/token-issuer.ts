import { once } from 'node:events';
import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';

import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import type { CryptoKey } from 'jose';

import { portOf } from './https-upstream.ts';

export const audience = 'https://api.site.test';

/** An issuer of tokens whose keys and answers can be changed while it runs. */
export class TokenIssuer implements AsyncDisposable {
  /** Keys as they are shown at `/keys`, by their ids; those at another path stand in `elsewhere`. */
  readonly shown = new Map<string, object>();
  readonly elsewhere = new Map<string, readonly object[]>();
  readonly #private = new Map<string, CryptoKey>();
  readonly asked: string[] = [];
  /** Changes the metadata. */
  metadata: object = {};
  /** Undefined: it answers. */
  fault: number | 'hangs' | undefined;
  /** Called before each answer. */
  beforeAnswer = (): void => {};
  #server: Server | undefined;
  #port = 0;

  static async start(...kids: readonly string[]): Promise<TokenIssuer> {
    const issuer = new TokenIssuer();
    for (const kid of kids) await issuer.addKey(kid);
    await issuer.up();
    return issuer;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  async up(): Promise<void> {
    this.#server = createServer((request, response) => {
      this.#answer(request.url ?? '', response);
    }).listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.#port = portOf(this.#server);
  }

  async down(): Promise<void> {
    this.#server?.close();
    this.#server?.closeAllConnections();
    if (this.#server !== undefined) await once(this.#server, 'close');
    this.#server = undefined;
  }

  /** Adds a key that is shown. */
  async addKey(kid: string, alg = 'ES256'): Promise<void> {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    this.#private.set(kid, privateKey);
    this.shown.set(kid, { ...(await exportJWK(publicKey)), kid, alg });
  }

  /** Signs a token; claims that are undefined are left out. `nowMs` is the time from which its life counts. */
  async token(
    claims: Readonly<Record<string, unknown>> = {},
    kid = 'a',
    lifeSeconds = 600,
    nowMs = Date.now(),
  ): Promise<string> {
    const all = { iss: this.url, aud: audience, sub: 'ada', exp: Math.floor(nowMs / 1000) + lifeSeconds, ...claims };
    const given = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
    const key = this.#private.get(kid);
    if (key === undefined) throw new Error(`there is no key ${kid}`);
    return new SignJWT(given)
      .setProtectedHeader({ alg: key.algorithm.name === 'ECDSA' ? 'ES256' : 'RS256', kid })
      .sign(key);
  }

  #answer(path: string, response: ServerResponse): void {
    this.asked.push(path);
    this.beforeAnswer();
    if (this.fault === 'hangs') return;
    const body =
      path === '/.well-known/openid-configuration'
        ? { issuer: this.url, jwks_uri: `${this.url}/keys`, ...this.metadata }
        : { keys: this.elsewhere.get(path) ?? [...this.shown.values()] };
    response.writeHead(this.fault ?? 200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.down();
  }
}
