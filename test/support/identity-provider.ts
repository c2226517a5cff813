import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

import { Provider } from 'oidc-provider';
import type { Configuration } from 'oidc-provider';

/** Claims of the people that the provider knows, by the name that they sign in with. */
export type People = Record<string, Readonly<Record<string, unknown>>>;

export const clientId = 'gatehouse';
/** A client that sends its secret in the body. */
export const postClientId = 'gatehouse-post';
export const clientSecret = 'a secret of the client and of the provider';

/** A real OpenID provider on a port of this machine. Everybody signs in by name alone. */
export class IdentityProvider implements AsyncDisposable {
  readonly people: People;
  readonly issuer: string;
  readonly #provider: Provider;
  readonly #port: number;
  #server: Server | undefined;
  /** Some providers give none, or only for a scope. */
  givesRefreshTokens = true;
  /** Some give a new one with each use, and end the login where an old one comes again. */
  rotatesRefreshTokens = false;
  /** Requests for each path, without the parts that differ. */
  readonly asked = new Map<string, number>();

  private constructor(people: People, port: number, redirectUris: readonly string[]) {
    this.people = people;
    this.#port = port;
    this.issuer = `http://127.0.0.1:${port}`;
    this.#provider = new Provider(this.issuer, this.#configuration(redirectUris));
    // Its own pages are served over plain HTTP here.
    this.#provider.on('server_error', (_context, error) => {
      process.stderr.write(`identity provider: ${error.stack ?? error.message}\n`);
    });
  }

  /** `hosts` are those of edges, with their ports where they are not the usual one, or the whole public URL of an API. Port 0: any that is free. */
  static async start(people: People, hosts: readonly string[], wantedPort = 0): Promise<IdentityProvider> {
    const probe = createServer().listen(wantedPort, '127.0.0.1');
    await once(probe, 'listening');
    // A server that listens on a port.
    const { port } = probe.address() as AddressInfo;
    probe.close();
    await once(probe, 'close');
    const uris = hosts.map((host) =>
      host.includes('://') ? `${host}/dashboard/sign-in/callback` : `https://${host}/.gatehouse/sign-in/callback`,
    );
    const provider = new IdentityProvider(people, port, uris);
    await provider.up();
    return provider;
  }

  async up(): Promise<void> {
    if (this.#server !== undefined) return;
    const callback = this.#provider.callback();
    this.#server = createServer((request, response) => {
      const path = (request.url ?? '').replace(/\?.*/, '').replace(/^\/interaction\/.*/, '/interaction');
      this.asked.set(path, (this.asked.get(path) ?? 0) + 1);
      if (path === '/interaction') void this.#interact(request, response);
      else void callback(request, response);
    }).listen(this.#port, '127.0.0.1');
    await once(this.#server, 'listening');
  }

  async down(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (server === undefined) return;
    server.close();
    server.closeAllConnections();
    await once(server, 'close');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.down();
  }

  /** Shows a form that asks for a name, and takes it. */
  async #interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
    if (request.method !== 'POST') {
      const form = '<form method="post"><label>Name <input name="name"></label><button>Sign in</button></form>';
      response.setHeader('content-type', 'text/html').end(`<!doctype html><title>Provider</title>${form}`);
      return;
    }
    let body = '';
    for await (const chunk of request) body += String(chunk);
    const name = new URLSearchParams(body).get('name') ?? '';
    const result = Object.hasOwn(this.people, name)
      ? { login: { accountId: name } }
      : { error: 'access_denied', error_description: 'nobody of this name' };
    await this.#provider.interactionFinished(request, response, result);
  }

  #configuration(redirectUris: readonly string[]): Configuration {
    const clientOf = (id: string, method: 'client_secret_basic' | 'client_secret_post') => ({
      client_id: id,
      client_secret: clientSecret,
      token_endpoint_auth_method: method,
      redirect_uris: [...redirectUris],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code' as const],
    });
    return {
      clients: [clientOf(clientId, 'client_secret_basic'), clientOf(postClientId, 'client_secret_post')],
      claims: {
        openid: ['sub'],
        email: ['email', 'email_verified'],
        profile: ['name', 'groups', 'department'],
      },
      cookies: { keys: ['a key for the cookies of the provider'] },
      features: { devInteractions: { enabled: false } },
      findAccount: (_context, id) =>
        this.people[id] === undefined ? undefined : { accountId: id, claims: () => ({ ...this.people[id], sub: id }) },
      interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
      issueRefreshToken: () => this.givesRefreshTokens,
      rotateRefreshToken: () => this.rotatesRefreshTokens,
      loadExistingGrant: async ({ oidc }) => {
        const grant = new this.#provider.Grant({
          clientId: oidc.client?.clientId,
          accountId: oidc.session?.accountId,
        });
        grant.addOIDCScope('openid email profile offline_access');
        await grant.save();
        return grant;
      },
    };
  }
}
