/** Names something that one resource does for others, and carries its type. It stands in the `service.ts` of its folder. */
export interface ServiceKey<Service> {
  readonly name: string;
  /** Carries the type only; never set. */
  readonly service?: Service;
}

export function serviceKey<Service>(name: string): ServiceKey<Service> {
  return { name };
}

/** What resources do for each other, each provided by exactly one of them. */
export class Services {
  readonly #provided = new Map<string, unknown>();

  provide<Service>({ name }: ServiceKey<Service>, service: Service): void {
    if (this.#provided.has(name)) throw new Error(`two resources provide ${name}`);
    this.#provided.set(name, service);
  }

  /** For calls, not while resources are put together: a later one may be the one that provides it. */
  get<Service>({ name }: ServiceKey<Service>): Service {
    if (!this.#provided.has(name)) throw new Error(`no resource provides ${name}`);
    // Only `provide` with a key of this name has put it there, and keys of one name are one constant.
    return this.#provided.get(name) as Service;
  }
}
