import type { Call } from '../../api/call.ts';
import { adminOnly, keyReadOnly, notFound, viewersRead } from '../../api/errors.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { FairTurns, TooMuchWaits } from '../../lib/fair-turns.ts';
import { rehearseWrite } from '../../store/write/rehearsed-writes.ts';
import type { Resource, ResourceContext } from '../resource.ts';
import { readChangeSet } from './change-set.ts';
import type { ChangeSet } from './change-set.ts';
import * as errors from './errors.ts';
import { rehearseChange } from './rehearse-change.ts';
import { allOperations } from './service.ts';
import { Rehearsal, RehearsalRequest, RehearsedVisitors } from './schema.ts';

const usualDays = 7;
/** Each holds the groups of visits that it compares. */
const turns = new FairTurns({ atOnce: 2, ofOwner: 1, waiting: 1 });

function rehearsalOperation(context: ResourceContext): Operation {
  return operation({
    rights: 'everyone',
    onlyReads: true,
    method: 'POST',
    path: '/rehearsals',
    operationId: 'RehearsalsCreate',
    summary: 'Rehearse a change on real visitors',
    description:
      'Carries a write out with its checks and rights, undoes it, and tells which visitors of the last days would get another verdict by it: newly refused and newly admitted apart, and those of whom it is not known, because something decides that is never kept, such as a header, a password or a certificate. ' +
      'Looks at the decisions that the gateway which answers keeps. A fault of the write is answered as the write would be.',
    tag: 'Traffic',
    body: RehearsalRequest,
    status: 200,
    response: Rehearsal,
    // Operations are known when all of them are put together.
    get errors() {
      const writes = context.services.all(allOperations).filter((each) => each.isRehearsable === true);
      const ofChecks = [notFound, adminOnly, viewersRead, keyReadOnly];
      return [...new Set([...Object.values(errors), ...ofChecks, ...writes.flatMap((each) => each.errors)])];
    },
    handle: async (call) =>
      turns
        .run(call.caller.accountId, () => rehearse(context, call, call.body))
        .catch((error: unknown) => {
          throw error instanceof TooMuchWaits ? new UserError(errors.tooManyRehearsals) : error;
        }),
  });
}

interface Wanted {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly days?: number;
}

async function rehearse(context: ResourceContext, call: Call, { method, path, body, days = usualDays }: Wanted) {
  const perform = isDryRun(path) ? undefined : call.perform({ method, path, body });
  if (perform === undefined) throw new UserError(errors.notRehearsable, { method, path: quote(path) });
  let made: { readonly changes: ChangeSet; readonly count: number } | undefined;
  await rehearseWrite(async (transaction, changes) => {
    const read = await readChangeSet(context.services, transaction, call.caller.accountId, changes);
    made = { changes: read, count: changes.length };
  }, perform);
  const changes = made?.changes ?? (await unchanged(context, call));
  return { changes: made?.count ?? 0, ...(await rehearseChange(context, call, changes, days)) };
}

function isDryRun(path: string): boolean {
  const mark = path.indexOf('?');
  // Decoded as a call's own query is, lest a dry run be told as a write that changes nothing.
  return mark >= 0 && new URLSearchParams(path.slice(mark)).has('dry_run');
}

/** A write that changes nothing. */
function unchanged({ services, store }: ResourceContext, { caller }: Call): Promise<ChangeSet> {
  return readChangeSet(services, store.queries, caller.accountId, []);
}

/** Rehearses writes on the decisions about visitors that are kept. Has no table of its own. */
export const rehearsalsResource: Resource = {
  errors: Object.values(errors),
  migrations: [],
  schemas: [RehearsalRequest, RehearsedVisitors, Rehearsal],
  operations: (context) => [rehearsalOperation(context)],
};
