import { isDeepStrictEqual } from 'node:util';

import type { Call } from '../../api/call.ts';
import { notOffered, preconditionFailed } from '../../api/errors.ts';
import { checkIfMatch, setEtag } from '../../api/http/etag.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import type { ErrorDefinition } from '../../errors/user-error.ts';
import { modulesFor, prepareModules } from '../../modules/index.ts';
import { fieldReferences } from '../../modules/module.ts';
import type { EdgeModule, ModuleTarget, Settings } from '../../modules/module.ts';
import { whenReady } from '../../lib/awaitable.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import type { Stored, Table } from '../../store/table.ts';
import type { Referables } from '../references.ts';
import type { ResourceContext } from '../resource.ts';
import { moduleNotSet, shownNotTaken } from './errors.ts';
import { acceptModule, keepSecretsOf, presentModule, syncReferences, warningsOf } from './module-fields.ts';
import type { HasModules, StoredModules } from './module-fields.ts';
import { shownId } from '../../api/shown-id.ts';

/** The paths and names of what is below one kind of edge or route. */
interface OwnerPaths<Owner extends Stored> {
  readonly table: Table<Owner>;
  /** Path of one edge or route: `/edges/tcp/{id}`. */
  readonly path: string;
  /** `TCP edge`, as it stands in messages. */
  readonly noun: string;
  /** The error for an id that names no edge or route. */
  readonly notFoundError: ErrorDefinition<'noun' | 'id'>;
  /** `TCP Edge`, as it stands in summaries. */
  readonly title: string;
  /** `TcpEdge`, as operation ids start. */
  readonly name: string;
  readonly tag: string;
  /** Whether the route is below the edge that the path names. */
  readonly belongs?: (owner: Owner, call: Call) => boolean;
}

interface ModulePaths<Owner extends HasModules> extends OwnerPaths<Owner> {
  readonly target: ModuleTarget;
  /** Names of modules that the public service has and this one has not: deleting one succeeds, as for one never set. */
  readonly notOffered: readonly string[];
  /** Rules for modules that are set together, and the errors for those that cannot be. */
  readonly together?: {
    readonly check: (modules: StoredModules) => void;
    readonly errors: readonly ErrorDefinition[];
  };
}

/** PUT, GET and DELETE for every module that the edge or route takes. */
export function moduleOperations<Owner extends HasModules>(
  context: ResourceContext,
  paths: ModulePaths<Owner>,
): readonly Operation[] {
  const offered = modulesFor(paths.target).flatMap((module) => [
    replaceOperation(context, paths, module),
    getOperation(context, paths, module),
    deleteOperation(context, paths, module),
  ]);
  return [...offered, ...paths.notOffered.map((name) => deleteNothing(context, paths, name))];
}

/** Some clients delete every module that they do not want set, and take an error for a failure. */
function deleteNothing<Owner extends Stored>(
  { store }: ResourceContext,
  paths: OwnerPaths<Owner>,
  name: string,
): Operation {
  return operation({
    ...describe(paths, { name, title: name }, 'Delete'),
    method: 'DELETE',
    description:
      'The module is not offered, so that there is nothing to delete: it succeeds for every one that exists.',
    status: 204,
    // The second where the path cannot have such an id.
    errors: [paths.notFoundError, notOffered],
    handle: async (call) => {
      const owner = await store.find(paths.table, call.caller.accountId, call.params['id'] ?? '');
      checkFound(owner, paths, call);
    },
  });
}

function replaceOperation<Owner extends HasModules>(
  context: ResourceContext,
  paths: ModulePaths<Owner>,
  module: EdgeModule,
): Operation {
  const { store, referables, sealer } = context;
  return operation({
    ...describe(paths, module, 'Replace'),
    isRehearsable: true,
    method: 'PUT',
    description: 'Replaces the whole module: a field that the request leaves out takes its default.',
    body: module.input,
    bodyForm: 'module',
    takesReadOnly: true,
    status: 200,
    response: module.view,
    accepts: ['IfMatch'],
    errors: [
      paths.notFoundError,
      preconditionFailed,
      ...(fieldReferences(module).length === 0 ? [] : [shownNotTaken]),
      ...module.errors,
      ...(paths.together?.errors ?? []),
    ],
    handle: async (call: Call) => {
      const accept = (body: unknown) => acceptModule(module, body, referables, paths.target);
      const prepared = new Set([await prepareModules({ [module.name]: call.body }, paths.target)]);
      const asShown = Object.keys(call.readOnly).length > 0;
      const given = asShown ? undefined : accept(call.body);
      const settings = await store.write(call.actor, async (transaction) => {
        const owner = await findForWrite(transaction, paths, call);
        const previous = owner.modules[module.name];
        checkIfMatch(call, previous);
        const accepted = given ?? accept(withStoredIds(module, previous, referables, call));
        const kept = keepSecretsOf(module, accepted, previous, sealer);
        await change(transaction, context, paths, owner, { ...owner.modules, [module.name]: kept });
        return kept;
      });
      prepared.clear();
      setEtag(call, settings);
      for (const warning of warningsOf(module, settings)) call.setHeader('Gatehouse-Warning', warning);
      return presentModule(module, settings, referables, call);
    },
  });
}

/** The body of a call that shows what the module refers to as answers do, with the ids that are stored. */
function withStoredIds(
  module: EdgeModule,
  previous: Settings | undefined,
  referables: Referables,
  call: Call,
): unknown {
  const stored = new Map(Object.entries(previous ?? {}));
  const shown = new Map(Object.entries(presentModule(module, previous, referables, call) ?? {}));
  const body = new Map(Object.entries(call.body ?? {}));
  for (const [name, value] of Object.entries(call.readOnly)) {
    const field = fieldReferences(module).find(({ nameField }) => nameField === name)?.field ?? '';
    if (!isDeepStrictEqual(shown.get(name), value)) {
      throw new UserError(shownNotTaken, { field: quote(name), ids: quote(field) });
    }
    if (!body.has(field)) body.set(field, stored.get(field));
  }
  return Object.fromEntries(body);
}

function getOperation<Owner extends HasModules>(
  { store, referables }: ResourceContext,
  paths: ModulePaths<Owner>,
  module: EdgeModule,
): Operation {
  const show = (found: Owner | undefined, call: Call): unknown => {
    const { id, modules } = checkFound(found, paths, call);
    const settings = modules[module.name];
    if (settings === undefined) throw new UserError(moduleNotSet, { module: module.name, id });
    setEtag(call, settings);
    return presentModule(module, settings, referables, call);
  };
  return operation({
    ...describe(paths, module, 'Get'),
    method: 'GET',
    status: 200,
    response: module.view,
    errors: [paths.notFoundError, moduleNotSet],
    handle: (call) => {
      const owner = store.find(paths.table, call.caller.accountId, call.params['id'] ?? '');
      return whenReady(owner, (found) => show(found, call));
    },
  });
}

function deleteOperation<Owner extends HasModules>(
  context: ResourceContext,
  paths: ModulePaths<Owner>,
  module: EdgeModule,
): Operation {
  const { store } = context;
  return operation({
    ...describe(paths, module, 'Delete'),
    isRehearsable: true,
    method: 'DELETE',
    description: 'Also succeeds when the module is not set.',
    status: 204,
    accepts: ['IfMatch'],
    errors: [paths.notFoundError, preconditionFailed, ...(paths.together?.errors ?? [])],
    handle: (call) =>
      store.write(call.actor, async (transaction) => {
        const owner = await findForWrite(transaction, paths, call);
        const { [module.name]: deleted, ...others } = owner.modules;
        checkIfMatch(call, deleted);
        await change(transaction, context, paths, owner, others);
      }),
  });
}

async function change<Owner extends HasModules>(
  transaction: Transaction,
  context: ResourceContext,
  { target, table, together }: ModulePaths<Owner>,
  previous: Owner,
  modules: StoredModules,
): Promise<void> {
  together?.check(modules);
  const owner = await table.update(transaction, previous, { ...previous, modules });
  if (owner !== previous) await syncReferences(transaction, context, target, owner, previous.modules);
}

async function findForWrite<Owner extends HasModules>(
  transaction: Transaction,
  paths: ModulePaths<Owner>,
  call: Call,
): Promise<Owner> {
  return checkFound(await paths.table.find(transaction, call.caller.accountId, call.params['id'] ?? ''), paths, call);
}

function checkFound<Owner extends Stored>(
  owner: Owner | undefined,
  { table, noun, notFoundError, belongs }: OwnerPaths<Owner>,
  call: Call,
): Owner {
  if (owner === undefined || belongs?.(owner, call) === false) {
    throw new UserError(notFoundError, { noun, id: shownId(call.params['id'], table.prefix) });
  }
  return owner;
}

function describe<Owner extends Stored>(
  { path, title, name, tag }: OwnerPaths<Owner>,
  module: Pick<EdgeModule, 'name' | 'title'>,
  verb: 'Replace' | 'Get' | 'Delete',
) {
  return {
    path: `${path}/${module.name}`,
    operationId: `${name}${toPascalCase(module.name)}${verb}`,
    summary: `${verb} ${title} ${module.title} Module`,
    tag,
    rights: 'everyone' as const,
  };
}

function toPascalCase(snakeCase: string): string {
  return snakeCase.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
