import assert from 'node:assert/strict';

import type { Flags } from '../../../../src/config/config.ts';
import { visitors } from '../../../../src/resources/visitors/service.ts';
import { clientId, clientSecret, IdentityProvider } from '../../../support/identity-provider.ts';
import { Visitor } from '../../../support/visitor.ts';
import { Site, siteHost } from './site.ts';
import { until } from './until.ts';

export const neighbourHost = 'neighbour.site.test';
/** Where a visit begins. */
export const start = `https://${siteHost}/`;

/** A site with a real OpenID provider, which knows three people. */
export class SignInSite implements AsyncDisposable {
  readonly site: Site;
  readonly provider: IdentityProvider;

  private constructor(site: Site, provider: IdentityProvider) {
    this.site = site;
    this.provider = provider;
  }

  static async start(settings: Flags = {}, databaseUrl?: string): Promise<SignInSite> {
    const site = await Site.start({ drainSeconds: '0', ...settings }, databaseUrl);
    const provider = await IdentityProvider.start(
      {
        ada: {
          email: 'ada@example.com',
          email_verified: true,
          name: 'Ada Zażółć',
          groups: ['ops', 'a, b'],
          department: 'sales',
        },
        eve: { email: 'eve@example.com', email_verified: false, name: 'Eve', groups: ['carriers'] },
        bob: { email: 'bob@partner.example', email_verified: true, groups: [] },
      },
      [siteHost, neighbourHost],
    );
    return new SignInSite(site, provider);
  }

  settings(more: object = {}) {
    return { issuer: this.provider.issuer, client_id: clientId, client_secret: clientSecret, ...more };
  }

  /** Sets the module at the route. */
  async put(more: object = {}) {
    const { status, body } = await this.site.gatehouse.put(`${this.site.routePath}/oidc`, this.settings(more));
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  }

  visitor(from?: string): Visitor {
    const { httpsPort } = this.site;
    return new Visitor({ [siteHost]: httpsPort, [neighbourHost]: httpsPort }, from);
  }

  async signedIn(name = 'ada'): Promise<Visitor> {
    const one = this.visitor();
    const { status, text } = await one.signIn(start, name);
    assert.equal(status, 200, text);
    return one;
  }

  // oxlint-disable-next-line typescript/no-explicit-any -- tests assert the form of a body
  async sessions(): Promise<any[]> {
    await this.#flush();
    const { application_sessions: all } = (await this.site.gatehouse.get('/app/sessions')).body;
    return all;
  }

  async sessionsAre(count: number): Promise<void> {
    await until(async () => (await this.sessions()).length === count, `${count} sessions are listed`);
  }

  async endAll(): Promise<void> {
    await this.#flush();
    const { application_users: users } = (await this.site.gatehouse.get('/app/users')).body;
    for (const { id } of users) assert.equal((await this.site.gatehouse.delete(`/app/users/${id}`)).status, 204);
  }

  /** What the gateway has told is written. */
  async #flush(): Promise<void> {
    await this.site.gatehouse.app.context.services.get(visitors).flush();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.provider[Symbol.asyncDispose]();
    await this.site[Symbol.asyncDispose]();
  }
}

/** Follows redirects of the provider until they lead to the edge, which is not asked. */
export async function follow(one: Visitor, address: string): Promise<string> {
  let next = address;
  for (let left = 10; left > 0 && !next.includes('/.gatehouse/'); left--) {
    const { headers } = await one.ask(next);
    next = new URL(headers.location ?? '', next).href;
  }
  return next;
}
