import type { Answer, CallOptions, Gatehouse } from './gatehouse.ts';

const signInPaths = new Set(['/dashboard/session', '/dashboard/sign-in/finish']);

/** Keeps the two secrets of a dashboard session and sends what the dashboard's own pages send. */
export class DashboardBrowser {
  readonly #url: string;
  readonly #headers: Readonly<Record<string, string>>;
  /** `name=value`, as it is sent. */
  cookie: string | undefined;
  /** The same for a sign-in that is under way at a provider. */
  loginCookie: string | undefined;
  /** The secret that the page keeps; "1" before the sign-in, as the header says it. */
  secret = '1';
  /** The last Set-Cookie, whole. */
  setCookie = '';

  /** `headers` are sent with every call. */
  constructor({ url }: Pick<Gatehouse, 'url'>, headers: Readonly<Record<string, string>> = {}) {
    this.#url = url;
    this.#headers = headers;
  }

  async call(method: string, path: string, body?: unknown, options: CallOptions = {}): Promise<Answer> {
    const all: Readonly<Record<string, string | undefined>> = {
      'service-version': '2',
      'gatehouse-dashboard': this.secret,
      origin: new URL(this.#url).origin,
      cookie: [this.cookie, this.loginCookie].filter((each) => each !== undefined).join('; ') || undefined,
      'content-type': body === undefined ? undefined : 'application/json',
      ...this.#headers,
      ...options.headers,
    };
    const headers = Object.entries(all).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, value]],
    );
    const response = await fetch(new URL(path, this.#url), {
      method,
      headers,
      redirect: 'manual',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    this.#keepCookie(response.headers.getSetCookie());
    const text = await response.text();
    const parsed = text === '' ? undefined : JSON.parse(text);
    if (response.status === 201 && signInPaths.has(path)) this.secret = parsed.secret;
    return { status: response.status, headers: response.headers, text, body: parsed };
  }

  signIn = (token: string, options?: CallOptions) => this.call('POST', '/dashboard/session', { token }, options);
  get = (path: string, options?: CallOptions) => this.call('GET', path, undefined, options);
  post = (path: string, body: unknown, options?: CallOptions) => this.call('POST', path, body, options);
  delete = (path: string, options?: CallOptions) => this.call('DELETE', path, undefined, options);

  /** Signs in, and fails unless that works. */
  static async signedIn(
    gatehouse: Pick<Gatehouse, 'url'>,
    token: string,
    headers?: Readonly<Record<string, string>>,
  ): Promise<DashboardBrowser> {
    const browser = new DashboardBrowser(gatehouse, headers);
    const { status, text } = await browser.signIn(token);
    if (status !== 201) throw new Error(`the sign-in answered ${status}: ${text}`);
    return browser;
  }

  #keepCookie(lines: readonly string[]): void {
    for (const line of lines) {
      const [pair = ''] = line.split(';', 1);
      const kept = line.includes('Max-Age=0') ? undefined : pair;
      if (pair.includes('session_login=')) {
        this.loginCookie = kept;
      } else {
        this.setCookie = line;
        this.cookie = kept;
      }
    }
  }
}
