import { createHash } from 'node:crypto';

import { encodeBase62 } from '../../lib/base62.ts';
import { idBody } from '../../lib/ids.ts';

/** Characters of an endpoint's id that are those of its edge; the others stand for the hostport. */
const sharedLength = 19;
const ownLength = 8;
const digestBytes = 8;

/** An edge has one endpoint for each hostport. Their ids sort like those of the edges. */
export function endpointIdOf(edgeId: string, hostport: string): string {
  const digest = createHash('sha256').update(hostport).digest().subarray(0, digestBytes);
  return `ep_${idBody(edgeId).slice(0, sharedLength)}${encodeBase62(digest, ownLength)}`;
}

/** An id above that of the edge which the endpoint may belong to, and below those of all newer edges. */
export function edgeBoundOf(prefix: string, endpointId: string): string {
  return `${prefix}_${idBody(endpointId).slice(0, sharedLength)}${'z'.repeat(ownLength)}~`;
}
