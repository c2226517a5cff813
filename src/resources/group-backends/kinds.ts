import { Type } from 'typebox';
import type { TSchema } from 'typebox';

import { UserError } from '../../errors/user-error.ts';
import { anyKey } from '../../lib/any-key.ts';
import type { BackendGroupEntry } from '../../snapshot/contract.ts';
import type { Table } from '../../store/table.ts';
import { allWeightsZero } from './errors.ts';
import { failoverBackends, weightedBackends } from './table.ts';
import type { GroupBackend, Order, Weights } from './table.ts';

/** A kind of backend that stands for others: how it writes them down, and chooses among them. */
export interface GroupKind<Members> {
  readonly table: Table<GroupBackend<Members>>;
  /** The table's name in SQL, and the section of files. */
  readonly section: string;
  readonly path: string;
  /** As operation ids start. */
  readonly name: string;
  readonly noun: string;
  readonly choice: BackendGroupEntry['choice'];
  /** The schema of `backends`, by ids or by names. */
  readonly schema: (description: string) => TSchema;
  readonly description: string;
  readonly idsOf: (members: Members) => readonly string[];
  /** The same with other ids. */
  readonly rename: (members: Members, nameOf: (id: string) => string) => Members;
  readonly weightOf: (members: Members, id: string) => number;
  readonly check: (members: Members) => void;
}

const id = 'bkdsc_2tQzYDLwIVU45s8sSMNpRfQp1Ng';

export const weightedKind: GroupKind<Weights> = {
  table: weightedBackends,
  section: 'weighted_backends',
  path: '/backends/weighted',
  name: 'WeightedBackends',
  noun: 'weighted backend',
  choice: 'weighted',
  description:
    'backends by their weights, from 0 to 10000: each request or connection goes to one of them, as often as its weight says ' +
    'beside the others. A backend with the weight 0 gets nothing.',
  schema: (description) =>
    Type.Record(anyKey, Type.Integer({ minimum: 0, maximum: 10_000 }), { description, examples: [{ [id]: 90 }] }),
  idsOf: (members) => Object.keys(members),
  rename: (members, nameOf) =>
    Object.fromEntries(Object.entries(members).map(([each, weight]) => [nameOf(each), weight])),
  weightOf: (members, each) => members[each] ?? 0,
  check(members) {
    const weights = Object.values(members);
    if (weights.length > 0 && weights.every((weight) => weight === 0)) throw new UserError(allWeightsZero);
  },
};

export const failoverKind: GroupKind<Order> = {
  table: failoverBackends,
  section: 'failover_backends',
  path: '/backends/failover',
  name: 'FailoverBackends',
  noun: 'failover backend',
  choice: 'failover',
  description:
    'backends in order: each request or connection goes to the first that can be reached. One that could not be reached is tried after the others for five seconds.',
  schema: (description) => Type.Array(Type.String(), { description, examples: [[id]] }),
  idsOf: (members) => members,
  rename: (members, nameOf) => members.map((each) => nameOf(each)),
  weightOf: () => 1,
  check: () => {},
};
