import { noKeptLogins } from '../sign-in/kept-logins.ts';
import type { KeptLogins } from '../sign-in/kept-logins.ts';

/** Logins of visitors for a gateway that may begin before there is a database: until then none is checked. */
export class LateLogins implements KeptLogins {
  #target = noKeptLogins;

  to(target: KeptLogins): void {
    this.#target = target;
  }

  keep(...parameters: Parameters<KeptLogins['keep']>): Promise<void> {
    return this.#target.keep(...parameters);
  }

  claim(...parameters: Parameters<KeptLogins['claim']>): ReturnType<KeptLogins['claim']> {
    return this.#target.claim(...parameters);
  }

  release(...parameters: Parameters<KeptLogins['release']>): Promise<void> {
    return this.#target.release(...parameters);
  }

  leave(...parameters: Parameters<KeptLogins['leave']>): Promise<void> {
    return this.#target.leave(...parameters);
  }
}
