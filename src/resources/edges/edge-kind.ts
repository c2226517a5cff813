import { Type } from 'typebox';
import type { TProperties } from 'typebox';

import { textFieldErrors, textFields } from '../../api/body/text-fields.ts';
import { nullable, viewFields } from '../../api/body/view-fields.ts';
import type { Call } from '../../api/call.ts';
import { crudOperations } from '../../api/crud.ts';
import { commonFields, listIn } from '../../api/filter/fields.ts';
import type { Operation } from '../../api/operation.ts';
import { duplicateEntry, nameOfInstallation, wildcardOverSuffix } from '../../errors/shared.ts';
import type { ErrorDefinition } from '../../errors/user-error.ts';
import { asRun } from '../../modules/index.ts';
import { prepareModules } from '../../modules/index.ts';
import type { ModuleTarget } from '../../modules/module.ts';
import type { Queries } from '../../store/database.ts';
import type { Table } from '../../store/table.ts';
import type { Referables } from '../references.ts';
import { textsToSet } from '../configuration-kind.ts';
import type { ResourceContext } from '../resource.ts';
import type { Edge, EdgeWrites } from './edge-writes.ts';
import * as errors from './errors.ts';
import { addressFields, hostportsInput } from './hostports.ts';
import { ModuleFields } from './module-fields.ts';
import type { StoredModules } from './module-fields.ts';
import { moduleOperations } from './module-operations.ts';
import { edgeAddresses, edgeModules } from './service.ts';
import type { EdgeAddresses } from './service.ts';

/** Errors of hostports whose names are told apart in a TLS handshake. */
export const hostnameErrors: readonly ErrorDefinition[] = [
  errors.wrongHttpsPort,
  errors.hostnameOverlap,
  nameOfInstallation,
  wildcardOverSuffix,
];

interface EdgeKindOptions {
  readonly proto: EdgeAddresses['proto'];
  readonly table: Table<Edge>;
  readonly target: ModuleTarget;
  /** Modules in the order of the answer, also those that are not offered and so always null. */
  readonly modules: readonly string[];
  readonly hostports: {
    /** `host:port`. */
    readonly form: string;
    readonly description: string;
    readonly example: string;
  };
  readonly createDescription?: string;
  /** Fields of an answer behind those that all edges have. */
  readonly views?: TProperties;
  /** Fields that belong elsewhere, beside those of an address. */
  readonly misplacedFields?: Readonly<Record<string, string>>;
  /** Errors of a write, beside those that all edges have. */
  readonly errors: readonly ErrorDefinition[];
  /** Rules for modules that are set together. */
  readonly together?: { readonly check: (modules: StoredModules) => void; readonly errors: readonly ErrorDefinition[] };
}

/** How the edges of a kind are written and shown, where that needs the context. */
interface EdgeOperations {
  readonly writes: EdgeWrites;
  /** Something that whoever sees the edge should know. */
  readonly warning?: (queries: Queries, edge: Edge) => Promise<string | undefined>;
  /** Fields of an answer that are not those of all edges. */
  readonly presentMore?: (queries: Queries, edges: readonly Edge[], call: Call) => Promise<readonly object[]>;
  readonly afterWrite?: (edge: Edge, call: Call) => object;
  /** The state that an ETag stands for; the edge itself by default. */
  readonly etagState?: (queries: Queries, edge: Edge) => Promise<object>;
  readonly mayBeLarge?: boolean;
}

/** One kind of edge as the API shows it: its bodies, its operations, and what other resources ask of it. */
export class EdgeKind {
  readonly path: string;
  readonly writeErrors: readonly ErrorDefinition[];
  readonly #options: EdgeKindOptions;
  readonly #modules: ModuleFields;
  /** `Tcp`. */
  readonly #name: string;
  /** `TCP`. */
  readonly #word: string;
  readonly #bodies: ReturnType<typeof bodiesOf>;

  constructor(options: EdgeKindOptions) {
    const { proto } = options;
    this.path = `/edges/${proto}`;
    this.#options = options;
    this.#modules = new ModuleFields(options.target, options.modules);
    this.#name = `${proto.charAt(0).toUpperCase()}${proto.slice(1)}`;
    this.#word = proto.toUpperCase();
    this.writeErrors = [
      errors.edgeDescriptionTooLong,
      errors.edgeMetadataTooLong,
      errors.invalidHostport,
      errors.invalidPort,
      errors.hostportTaken,
      errors.tooManyHostports,
      duplicateEntry,
      ...options.errors,
      ...this.#modules.errors,
    ];
    this.#bodies = bodiesOf(options, this.#modules, this.#name);
  }

  get schemas() {
    const { view, create, update } = this.#bodies;
    return [view, create, update];
  }

  operations(context: ResourceContext, own: EdgeOperations): readonly Operation[] {
    const { store, referables } = context;
    const { table, target, proto, hostports, misplacedFields, together } = this.#options;
    const { writes, presentMore, ...others } = own;
    const names = {
      noun: `${this.#word} edge`,
      notFoundError: errors.edgeNotFound,
      tag: `${this.#word} edges`,
      table,
    } as const;
    const crud = crudOperations({
      plural: `${this.#word} edges`,
      rights: { read: 'everyone', write: 'everyone' },
      ...names,
      store,
      path: this.path,
      name: `${this.#name}Edges`,
      listKey: `${proto}_edges`,
      filterFields: { ...commonFields, hostports: listIn('hostports') },
      takesNewId: true,
      isRehearsable: true,
      view: this.#bodies.view,
      createBody: this.#bodies.create,
      updateBody: this.#bodies.update,
      fieldErrors: textFieldErrors(errors.edgeDescriptionTooLong, errors.edgeMetadataTooLong),
      misplacedFields: { ...addressFields(hostports.example), ...misplacedFields },
      errors: { create: this.writeErrors, update: this.writeErrors, delete: [] },
      prepare: (body) => prepareModules(body, target),
      create: (transaction, { caller, body, newId }) => {
        const change = { ...body, hostports: body.hostports, modules: this.#modules.accept(body, referables) };
        return writes.create(transaction, caller.accountId, change, newId);
      },
      update: (transaction, { body }, previous) =>
        writes.update(transaction, previous, {
          ...body,
          hostports: body.hostports,
          modules: { ...previous.modules, ...this.#modules.accept(body, referables) },
        }),
      remove: (transaction, _call, edge) => writes.remove(transaction, edge),
      restore(transaction, { caller }, wanted, current) {
        const { id } = wanted;
        // One of an older release may lack fields.
        const { modules } = table.complete(wanted);
        const change = { ...textsToSet(wanted), hostports: wanted.hostports, modules };
        return current === undefined
          ? writes.create(transaction, caller.accountId, change, id)
          : writes.update(transaction, current, change);
      },
      presentAll: async (queries, edges, call) => {
        const more = await presentMore?.(queries, edges, call);
        return edges.map((edge, at) => ({ ...this.#present(edge, referables, call), ...more?.[at] }));
      },
      ...others,
    });
    const ofModules = moduleOperations(context, {
      ...names,
      target,
      path: `${this.path}/{id}`,
      title: `${this.#word} Edge`,
      name: `${this.#name}Edge`,
      notOffered: this.#modules.notOffered,
      ...(together === undefined ? {} : { together }),
    });
    return [...crud, ...ofModules];
  }

  /** Gives other resources what they ask of every kind of edge. */
  provide({ store, services }: ResourceContext): void {
    const { table, proto, target } = this.#options;
    const { prefix } = table;
    const page: EdgeAddresses['page'] = async (accountId, wanted) => store.page(table, accountId, wanted);
    services.add(edgeAddresses, { prefix, path: this.path, proto, page });
    services.add(edgeModules, {
      prefix,
      async find(accountId, id) {
        const edge = await store.find(table, accountId, id);
        return edge && asRun(edge.modules, target);
      },
    });
  }

  #present(edge: Edge, referables: Referables, call: Call): object {
    const { id, created_at, description, metadata, hostports } = edge;
    return {
      id,
      uri: call.uri(`${this.path}/${id}`),
      created_at,
      description,
      metadata,
      hostports: hostports.length === 0 ? null : hostports,
      ...this.#modules.present(edge.modules, referables, call),
    };
  }
}

function bodiesOf(options: EdgeKindOptions, modules: ModuleFields, name: string) {
  const { proto, hostports, views, createDescription } = options;
  const fields = {
    ...textFields,
    hostports: hostportsInput(hostports.description, hostports.example),
    ...modules.inputs,
  };
  const reached = `Where the edge is reached, as ${hostports.form}; null when nowhere.`;
  return {
    view: Type.Object(
      {
        ...viewFields(`${proto.toUpperCase()} edge`),
        hostports: nullable('array', reached, Type.String()),
        ...modules.views,
        ...views,
      },
      { $id: `${name}Edge` },
    ),
    create: Type.Object(fields, {
      $id: `${name}EdgeCreate`,
      ...(createDescription === undefined ? {} : { description: createDescription }),
      additionalProperties: false,
    }),
    update: Type.Object(fields, {
      $id: `${name}EdgeUpdate`,
      description: '`hostports` replaces the whole list. A module that is given replaces the old one whole.',
      additionalProperties: false,
    }),
  };
}
