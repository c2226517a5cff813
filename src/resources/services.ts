/** Names something that one resource does for others, and carries its type. It stands in the `service.ts` of its folder. */
export interface ServiceKey<Service> {
  readonly name: string;
  /** Carries the type only; never set. */
  readonly service?: Service;
}

/** Names something that several resources do alike. */
export interface ServiceListKey<Service> {
  readonly name: string;
  /** Carries the type only; never set. */
  readonly services?: readonly Service[];
}

export function serviceKey<Service>(name: string): ServiceKey<Service> {
  return { name };
}

export function serviceListKey<Service>(name: string): ServiceListKey<Service> {
  return { name };
}

/** Services of resources for each other. To be used in calls: while resources are put together, some are missing. */
export class Services {
  readonly #single = new Map<string, unknown>();
  readonly #lists = new Map<string, unknown[]>();

  provide<Service>({ name }: ServiceKey<Service>, service: Service): void {
    if (this.#single.has(name)) throw new Error(`two resources provide ${name}`);
    this.#single.set(name, service);
  }

  add<Service>({ name }: ServiceListKey<Service>, service: Service): void {
    this.#lists.set(name, [...(this.#lists.get(name) ?? []), service]);
  }

  get<Service>({ name }: ServiceKey<Service>): Service {
    const service = this.#single.get(name);
    if (service === undefined) throw new Error(`no resource provides ${name}`);
    // Only `provide` with a key of this name has put it there, and keys of one name are one constant.
    return service as Service;
  }

  /** Undefined where it depends on the settings, and they do not ask for it. */
  find<Service>({ name }: ServiceKey<Service>): Service | undefined {
    // As in `get`.
    return this.#single.get(name) as Service | undefined;
  }

  all<Service>({ name }: ServiceListKey<Service>): readonly Service[] {
    // Only `add` with a key of this name has put them there.
    return (this.#lists.get(name) ?? []) as readonly Service[];
  }
}
