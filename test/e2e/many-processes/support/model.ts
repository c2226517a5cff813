/** Random values of one operation; each kind of resource uses those that it needs. */
export interface Choice {
  readonly text: string | undefined;
  readonly flag: boolean | undefined;
  /** Indexes in lists of resources that exist or existed, or in small pools of values. */
  readonly one: number;
  readonly few: readonly number[];
}

/** A resource in the model: the fields of a response, without those that can be computed. */
export interface Thing {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** Code of the expected error. */
export type Fault = number;

export interface Step {
  readonly body: object;
  readonly fault?: Fault | undefined;
  /** Fields after the operation, if there is no fault. */
  readonly fields: object;
}

export interface Kind {
  readonly path: string;
  readonly listKey: string;
  readonly missing: Fault;
  create(model: Model, choice: Choice): Step;
  update(model: Model, thing: Thing, choice: Choice): Step;
  /** Returns the error that prevents its deletion. */
  kept?(model: Model, thing: Thing): Fault | undefined;
  /** Returns resources that are deleted with it. */
  below?(model: Model, thing: Thing): readonly [kind: string, id: string][];
}

export const moduleNames = ['backend', 'ip_restriction'] as const;
export type ModuleName = (typeof moduleNames)[number];

const baseUrl = 'https://api.example.com';

/** A simple in-memory model of all resources. */
export class Model {
  readonly userId: string;
  /** Keeps names and ports of one run apart from those of others. */
  readonly run: number;
  readonly #things = new Map<string, Map<string, Thing>>();
  /** Every id ever used, so that deleted resources are requested too. */
  readonly #ids = new Map<string, string[]>();

  constructor(userId: string, run: number) {
    this.userId = userId;
    this.run = run;
  }

  all(kind: string): readonly Thing[] {
    return [...(this.#things.get(kind)?.values() ?? [])];
  }

  find(kind: string, id: string): Thing | undefined {
    return this.#things.get(kind)?.get(id);
  }

  /** Returns the id of a resource that exists, existed, or never did. */
  id(kind: string, place: number): string {
    const ids = this.#ids.get(kind) ?? [];
    return ids[place % (ids.length + 1)] ?? `${prefixes[kind]}_000000000000000000000000000`;
  }

  set(kind: string, thing: Thing): void {
    const things = this.#things.get(kind) ?? new Map<string, Thing>();
    this.#things.set(kind, things);
    const ids = this.#ids.get(kind) ?? [];
    this.#ids.set(kind, ids);
    if (!ids.includes(thing.id)) ids.push(thing.id);
    things.set(thing.id, thing);
  }

  delete(kind: string, id: string): void {
    this.#things.get(kind)?.delete(id);
  }

  /** True if a restriction or an edge refers to the resource. */
  isReferenced(id: string): boolean {
    const inside = (value: unknown): boolean =>
      typeof value === 'object' &&
      value !== null &&
      Object.entries(value).some(([key, each]) => (key === 'id' && each === id) || inside(each));
    return [...this.all('restriction'), ...this.all('edge')].some((user) =>
      ['ip_policies', 'backend', 'ip_restriction'].some((field) => inside(user[field])),
    );
  }
}

const prefixes: Readonly<Record<string, string>> = {
  key: 'ak',
  bot: 'bot',
  policy: 'ipp',
  rule: 'ipr',
  restriction: 'ipx',
  backend: 'bkdsc',
  edge: 'edgtcp',
};

export function ref(path: string, id: string) {
  return { id, uri: `${baseUrl}${path}/${id}` };
}

export function uriOf(path: string, id: string): string {
  return ref(path, id).uri;
}

/** Removes fields that are not set, as responses and requests omit them. */
export function present(fields: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

/** Returns the description as sent and as stored; an empty one is stored as none. */
export function texts({ text }: Choice, previous?: unknown): { readonly sent: object; readonly kept: object } {
  const description = text === undefined ? previous : text;
  return {
    sent: present({ description: text }),
    kept: present({ description: description === '' ? undefined : description }),
  };
}

export function policies(model: Model, { few }: Choice): readonly string[] {
  return [...new Set(few.map((place) => model.id('policy', place)))];
}

export function missing(model: Model, kind: string, ids: readonly string[], fault: Fault): Fault | undefined {
  return ids.every((id) => model.find(kind, id) !== undefined) ? undefined : fault;
}

export function refs(ids: readonly string[]) {
  return ids.map((id) => ref('/ip_policies', id));
}
