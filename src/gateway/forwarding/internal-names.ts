import { formatEndpointUrl, readEndpointUrl, wildcardsAbove } from '../../lib/endpoint-url.ts';
import type { EndpointScheme, EndpointUrl } from '../../lib/endpoint-url.ts';

interface Named {
  readonly id: string;
  readonly accountId: string;
  /** In its shortest form. */
  readonly url: string;
}

const none: readonly never[] = [];

/** Internal endpoints, by account and URL. */
export class InternalNames<Endpoint extends Named> {
  readonly #schemes: readonly EndpointScheme[];
  #byId = new Map<string, Endpoint>();
  readonly #byUrl = new Map<string, readonly Endpoint[]>();

  constructor(schemes: readonly EndpointScheme[]) {
    this.#schemes = schemes;
  }

  withId(id: string): Endpoint | undefined {
    return this.#byId.get(id);
  }

  /** Endpoints of the most specific name that the URL leads to; more than one if they share it. */
  find(accountId: string, text: string): readonly Endpoint[] {
    const read = readEndpointUrl(text.replace(/\/$/, ''));
    if (
      !read.ok ||
      read.url.hostname.startsWith('*') ||
      !this.#schemes.includes(read.url.scheme) ||
      this.#byUrl.size === 0
    )
      return none;
    const { url } = read;
    const exact = this.#byUrl.get(keyOf(accountId, formatEndpointUrl(url)));
    return exact ?? this.#ofWildcard(accountId, url) ?? none;
  }

  set(endpoint: Endpoint): void {
    this.remove(endpoint.id);
    this.#byId.set(endpoint.id, endpoint);
    const key = keyOf(endpoint.accountId, endpoint.url);
    this.#byUrl.set(key, [...(this.#byUrl.get(key) ?? none), endpoint]);
  }

  remove(id: string): void {
    const old = this.#byId.get(id);
    if (old === undefined) return;
    this.#byId.delete(id);
    const key = keyOf(old.accountId, old.url);
    const left = (this.#byUrl.get(key) ?? none).filter((each) => each !== old);
    if (left.length === 0) this.#byUrl.delete(key);
    else this.#byUrl.set(key, left);
  }

  clear(): void {
    this.#byId = new Map();
    this.#byUrl.clear();
  }

  #ofWildcard(accountId: string, url: EndpointUrl): readonly Endpoint[] | undefined {
    for (const hostname of wildcardsAbove(url.hostname)) {
      const found = this.#byUrl.get(keyOf(accountId, formatEndpointUrl({ ...url, hostname })));
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

function keyOf(accountId: string, url: string): string {
  return `${accountId} ${url}`;
}

/** One of those that share a name: the one that was chosen before, if it is still among them, or any. */
export function chooseOne<Member extends { readonly id: string }>(
  members: readonly Member[],
  formerId?: string,
): Member | undefined {
  if (members.length < 2) return members[0];
  return members.find(({ id }) => id === formerId) ?? members[Math.floor(Math.random() * members.length)];
}
