import { quote, UserError } from '../../errors/user-error.ts';
import { hasPrefix } from '../../lib/ids.ts';
import type { Queries } from '../../store/database.ts';
import type { Referables } from '../references.ts';
import * as errors from './errors.ts';
import { failoverBackends, weightedBackends } from './table.ts';

const memberLimit = 100;
/** Groups on the way from an edge to a backend that is none. */
const depthLimit = 5;

/** The group that is being written. */
interface Group {
  /** Undefined for one that does not exist yet: nothing leads to it. */
  readonly id: string | undefined;
  readonly accountId: string;
}

/** Checks that the ids are those of other backends of the account, and that none of them leads back to the group. */
export async function checkMembers(
  queries: Queries,
  referables: Referables,
  group: Group,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) throw new UserError(errors.membersRequired);
  if (ids.length > memberLimit) throw new UserError(errors.tooManyMembers, { count: ids.length, limit: memberLimit });
  const prefixes = referables
    .ofKind('backend')
    .map(({ prefix }) => `"${prefix}_"`)
    .join(', ');
  referables.check('backend', 'backends', ids, (id) => new UserError(errors.notAMemberId, { id: quote(id), prefixes }));
  for (const id of ids) {
    if (!(await referables.exists(queries, 'backend', group.accountId, id)))
      throw new UserError(errors.memberMissing, { id: quote(id) });
  }
  const nesting = new Nesting(queries, referables, group.id);
  const depth = (await nesting.above(group.id)) + 1 + (await nesting.below(ids));
  if (depth > depthLimit) throw new UserError(errors.nestedTooDeep, { depth, limit: depthLimit });
}

/** Measures how many groups lead to a group, and stand below it. Each is looked at once. */
class Nesting {
  readonly #queries: Queries;
  readonly #referables: Referables;
  readonly #own: string | undefined;
  readonly #heights = new Map<string, number>();
  readonly #depths = new Map<string, number>();

  constructor(queries: Queries, referables: Referables, own: string | undefined) {
    this.#queries = queries;
    this.#referables = referables;
    this.#own = own;
  }

  async below(ids: readonly string[]): Promise<number> {
    let most = 0;
    for (const id of ids.filter(isGroup)) most = Math.max(most, await this.#height(id));
    return most;
  }

  async above(id: string | undefined): Promise<number> {
    if (id === undefined) return 0;
    const known = this.#depths.get(id);
    if (known !== undefined) return known;
    const referrers = await this.#referables.find('backend', id)?.referrersOf(this.#queries, id);
    let most = 0;
    for (const each of (referrers ?? []).filter(isGroup)) most = Math.max(most, 1 + (await this.above(each)));
    this.#depths.set(id, most);
    return most;
  }

  async #height(id: string): Promise<number> {
    if (id === this.#own) throw new UserError(errors.memberCycle, { id, backend: id });
    const known = this.#heights.get(id);
    if (known !== undefined) return known;
    const named = await this.#referables.namedBy(this.#queries, 'backend', id);
    if (this.#own !== undefined && named.includes(this.#own))
      throw new UserError(errors.memberCycle, { id, backend: this.#own });
    const height = 1 + (await this.below(named));
    this.#heights.set(id, height);
    return height;
  }
}

function isGroup(id: string): boolean {
  return hasPrefix(id, weightedBackends.prefix) || hasPrefix(id, failoverBackends.prefix);
}
