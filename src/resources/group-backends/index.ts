import type { Resource } from '../resource.ts';
import { groupResource } from './group-resource.ts';
import { failoverKind, weightedKind } from './kinds.ts';
import { migrations } from './table.ts';

/** Backends that choose among others by weight. */
export const weightedBackendsResource: Resource = { ...groupResource(weightedKind), migrations };

/** Backends that send traffic to the first of others that can be reached. */
export const failoverBackendsResource: Resource = groupResource(failoverKind);
