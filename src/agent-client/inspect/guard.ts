import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const safeMethods: ReadonlySet<string | undefined> = new Set(['GET', 'HEAD']);

/** Refuses what pages of others, or names that lead to this machine, could ask of the local page. */
export class InspectGuard {
  readonly #csrf = randomBytes(24).toString('hex');

  /** Goes with every form. */
  get csrf(): string {
    return this.#csrf;
  }

  /** Why a request is refused; undefined: it is not. */
  refusal({ headers, method, url = '', socket }: IncomingMessage): string | undefined {
    const { host = '', origin } = headers;
    // Another name may be one that somebody has pointed at this machine, to read the answers.
    const names = ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${socket.localPort}`);
    if (!names.includes(host.toLowerCase())) return `This page is only at http://127.0.0.1:${socket.localPort}.`;
    const site = headers['sec-fetch-site'];
    const isOwn =
      (origin === undefined || origin === `http://${host}`) &&
      (site === undefined || site === 'same-origin' || site === 'none');
    const isNavigation = safeMethods.has(method) && !url.startsWith('/api/');
    return isOwn || isNavigation ? undefined : 'This came from a page of another site.';
  }

  /** True for the token of a form of ours. */
  isOurs(token: string): boolean {
    const [given, own] = [Buffer.from(token), Buffer.from(this.#csrf)];
    return given.length === own.length && timingSafeEqual(given, own);
  }
}
