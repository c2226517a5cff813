import { askHttps } from '../e2e/gateway/support/traffic.ts';
import type { Answered } from '../e2e/gateway/support/traffic.ts';

/** What the visitor sees in the end. */
export interface Seen extends Answered {
  readonly url: string;
}

const browserHeaders = {
  accept: 'text/html,application/xhtml+xml',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-site': 'none',
};

/** Somebody with a browser: keeps cookies by host, follows redirects, and fills in the form of the provider. */
export class Visitor {
  readonly cookies = new Map<string, Map<string, string>>();
  /** The last Set-Cookie of each name, whole. */
  readonly setCookies = new Map<string, string>();
  /** Every URL that was asked for. */
  readonly way: string[] = [];
  /** The port of each host of an edge. */
  ports: Record<string, number>;
  from: string | undefined;

  constructor(ports: Record<string, number>, from?: string) {
    this.ports = ports;
    this.from = from;
  }

  /** Asks once, without following. */
  async ask(
    address: string,
    { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
  ): Promise<Seen> {
    const url = new URL(address);
    this.way.push(address);
    const jar = this.cookies.get(url.hostname) ?? new Map<string, string>();
    this.cookies.set(url.hostname, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const sent = { ...browserHeaders, ...(cookie === '' ? {} : { cookie }), ...headers };
    const path = `${url.pathname}${url.search}`;
    const port = this.ports[url.hostname];
    const answer =
      port === undefined
        ? await plainAsk(url, method, sent)
        : await askHttps(port, url.hostname, {
            path,
            method,
            headers: { host: url.host, ...sent },
            ...(this.from && { from: this.from }),
          });
    this.#keep(jar, answer.headers['set-cookie'] ?? []);
    return { ...answer, url: address };
  }

  /** Follows redirects to the end. */
  async open(address: string, headers: Record<string, string> = {}): Promise<Seen> {
    let seen = await this.ask(address, { headers });
    for (let left = 15; left > 0 && seen.headers.location !== undefined; left--)
      seen = await this.ask(new URL(seen.headers.location, seen.url).href);
    return seen;
  }

  /** Opens a page, and signs in where the provider asks for a name. */
  async signIn(address: string, name: string): Promise<Seen> {
    return this.fillIn(await this.open(address), name);
  }

  async fillIn(form: Seen, name: string): Promise<Seen> {
    return form.url.includes('/interaction/') ? this.open(await this.sendForm(form, name)) : form;
  }

  /** Sends the form of the provider, and answers where it leads. */
  async sendForm({ url }: Pick<Seen, 'url'>, name: string): Promise<string> {
    const jar = this.cookies.get(new URL(url).hostname) ?? new Map<string, string>();
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'manual',
      headers: {
        cookie: [...jar].map(([each, value]) => `${each}=${value}`).join('; '),
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({ name }),
    });
    this.#keep(jar, response.headers.getSetCookie());
    return new URL(response.headers.get('location') ?? '', url).href;
  }

  cookie(host: string, part: string): string | undefined {
    return [...(this.cookies.get(host) ?? [])].find(([name]) => name.includes(part))?.[1];
  }

  #keep(jar: Map<string, string>, lines: readonly string[]): void {
    for (const line of lines) {
      const [pair = ''] = line.split(';');
      const at = pair.indexOf('=');
      const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
      this.setCookies.set(name, line);
      if (/max-age=0\b/i.test(line) || /expires=Thu, 01 Jan 1970/i.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
  }
}

async function plainAsk(url: URL, method: string, headers: Record<string, string>): Promise<Answered> {
  const response = await fetch(url, { method, headers, redirect: 'manual' });
  const location = response.headers.get('location');
  return {
    status: response.status,
    headers: { 'set-cookie': response.headers.getSetCookie(), ...(location === null ? {} : { location }) },
    text: await response.text(),
    errorCode: undefined,
    echo: undefined,
    certificate: undefined,
  };
}
