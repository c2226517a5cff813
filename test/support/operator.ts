import { DashboardBrowser } from './dashboard-browser.ts';
import type { Answer, CallOptions, Gatehouse } from './gatehouse.ts';
import { Visitor } from './visitor.ts';

/** The address at which browsers find the dashboard, as the settings say. */
export const publicUrl = 'https://gate.site.test';

/** Somebody who signs in to the dashboard with the identity provider. */
export class Operator {
  readonly browser: DashboardBrowser;
  /** The browser, as far as the provider is concerned. */
  readonly visitor = new Visitor({});
  /** The secret of the sign-in that is under way. */
  secret = '';

  readonly #address: string;

  /** `address` is that of the dashboard. */
  constructor(
    gatehouse: Pick<Gatehouse, 'url'>,
    headers: Readonly<Record<string, string>> = {},
    address: string = publicUrl,
  ) {
    this.#address = address;
    this.browser = new DashboardBrowser(gatehouse, { origin: address, ...headers });
  }

  async begin(as: 'me' | 'other' = 'me', options?: CallOptions, accountId?: string): Promise<Answer> {
    const body = { as, ...(accountId === undefined ? {} : { account_id: accountId }) };
    const answer = await this.browser.post('/dashboard/sign-in', body, options);
    this.secret = answer.body.secret ?? this.secret;
    return answer;
  }

  /** Says who it is at the provider, and answers the address that it leads back to. */
  async answerAs(name: string, url: string): Promise<string> {
    let next = url;
    for (let left = 10; left > 0 && !next.startsWith(this.#address); left--) {
      const seen = await this.visitor.ask(next);
      next =
        seen.headers.location === undefined
          ? await this.visitor.sendForm(seen, name)
          : new URL(seen.headers.location, next).href;
    }
    return next;
  }

  /** The page that the provider leads back to sends what stands in its address. */
  finish(address: string, secret = this.secret): Promise<Answer> {
    return this.browser.post('/dashboard/sign-in/finish', { query: new URL(address).search, secret });
  }

  async signIn(name: string, accountId?: string): Promise<Answer> {
    const { status, body, text } = await this.begin('me', undefined, accountId);
    if (status !== 200) throw new Error(`the sign-in answered ${status}: ${text}`);
    return this.finish(await this.answerAs(name, body.url));
  }
}
