import type { Call } from '../../api/call.ts';
import { preconditionFailed } from '../../api/errors.ts';
import { checkMatch, tagAnswer } from '../../api/etag.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import type { ErrorDefinition } from '../../errors/user-error.ts';
import { modulesFor } from '../../modules/index.ts';
import type { EdgeModule, ModuleTarget, Settings } from '../../modules/module.ts';
import type { Transaction } from '../../store/group-commit.ts';
import type { Table } from '../../store/table.ts';
import type { Referables } from '../references.ts';
import type { ResourceContext } from '../resource.ts';
import { moduleNotSet } from './errors.ts';
import { acceptModule, presentModule, syncReferences } from './module-fields.ts';
import type { HasModules } from './module-fields.ts';

/** Where the modules of one kind of holder are found. */
interface ModulePaths<Holder extends HasModules> {
  readonly target: ModuleTarget;
  readonly table: Table<Holder>;
  /** Of one holder: `/edges/tcp/{id}`. */
  readonly path: string;
  /** `TCP edge`, as it stands in messages. */
  readonly noun: string;
  /** The code for an id that names no holder. */
  readonly missing: ErrorDefinition<'noun' | 'id'>;
  /** `TCP Edge`, as it stands in summaries. */
  readonly title: string;
  /** `TcpEdge`, as operation ids start. */
  readonly name: string;
  readonly tag: string;
  /** Whether the holder is below the resource that the path names. */
  readonly belongs?: (holder: Holder, call: Call) => boolean;
}

/** PUT, GET and DELETE for every module that the holder takes. */
export function moduleOperations<Holder extends HasModules>(
  context: ResourceContext,
  paths: ModulePaths<Holder>,
): readonly Operation[] {
  return modulesFor(paths.target).flatMap((module) => [
    replaceOperation(context, paths, module),
    getOperation(context, paths, module),
    deleteOperation(context, paths, module),
  ]);
}

function replaceOperation<Holder extends HasModules>(
  { store, referables }: ResourceContext,
  paths: ModulePaths<Holder>,
  module: EdgeModule,
): Operation {
  return operation({
    ...describe(paths, module, 'Replace'),
    method: 'PUT',
    description: 'Replaces all of it: what the request leaves out takes its default.',
    body: module.input,
    bodyForm: 'module',
    status: 200,
    answer: module.view,
    accepts: ['IfMatch'],
    errors: [paths.missing, preconditionFailed, ...module.errors],
    handle: async (call: Call) => {
      const settings = acceptModule(module, call.body, referables);
      await store.write(call.actor, async (transaction) => {
        const holder = await findForWrite(transaction, paths, call);
        checkMatch(call, holder.modules[module.name]);
        await change(transaction, referables, paths, holder, { ...holder.modules, [module.name]: settings });
      });
      tagAnswer(call, settings);
      return presentModule(module, settings, referables, call);
    },
  });
}

function getOperation<Holder extends HasModules>(
  { store, referables }: ResourceContext,
  paths: ModulePaths<Holder>,
  module: EdgeModule,
): Operation {
  const show = (found: Holder | undefined, call: Call): unknown => {
    const { id, modules } = checkFound(found, paths, call);
    const settings = modules[module.name];
    if (settings === undefined) throw new UserError(moduleNotSet, { module: module.name, id });
    tagAnswer(call, settings);
    return presentModule(module, settings, referables, call);
  };
  return operation({
    ...describe(paths, module, 'Get'),
    method: 'GET',
    status: 200,
    answer: module.view,
    errors: [paths.missing, moduleNotSet],
    handle: (call) => {
      const holder = store.find(paths.table, call.caller.accountId, call.params['id'] ?? '');
      return holder instanceof Promise ? holder.then((found) => show(found, call)) : show(holder, call);
    },
  });
}

function deleteOperation<Holder extends HasModules>(
  { store, referables }: ResourceContext,
  paths: ModulePaths<Holder>,
  module: EdgeModule,
): Operation {
  return operation({
    ...describe(paths, module, 'Delete'),
    method: 'DELETE',
    description: 'Also succeeds when the module is not set.',
    status: 204,
    accepts: ['IfMatch'],
    errors: [paths.missing, preconditionFailed],
    handle: (call) =>
      store.write(call.actor, async (transaction) => {
        const holder = await findForWrite(transaction, paths, call);
        const { [module.name]: deleted, ...others } = holder.modules;
        checkMatch(call, deleted);
        await change(transaction, referables, paths, holder, others);
      }),
  });
}

async function change<Holder extends HasModules>(
  transaction: Transaction,
  referables: Referables,
  { target, table }: ModulePaths<Holder>,
  previous: Holder,
  modules: Readonly<Record<string, Settings>>,
): Promise<void> {
  const holder = await table.update(transaction, previous, { ...previous, modules });
  if (holder !== previous) await syncReferences(transaction, referables, target, holder, previous.modules);
}

async function findForWrite<Holder extends HasModules>(
  transaction: Transaction,
  paths: ModulePaths<Holder>,
  call: Call,
): Promise<Holder> {
  return checkFound(await paths.table.find(transaction, call.caller.accountId, call.params['id'] ?? ''), paths, call);
}

function checkFound<Holder extends HasModules>(
  holder: Holder | undefined,
  { noun, missing, belongs }: ModulePaths<Holder>,
  call: Call,
): Holder {
  if (holder === undefined || belongs?.(holder, call) === false) {
    throw new UserError(missing, { noun, id: quote(call.params['id']) });
  }
  return holder;
}

function describe<Holder extends HasModules>(
  { path, title, name, tag }: ModulePaths<Holder>,
  module: EdgeModule,
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
