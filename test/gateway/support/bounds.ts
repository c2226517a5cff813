import type { GatewayBounds } from '../../../src/gateway/bounds/bound.ts';

/** Bounds that a test does not meet unless it sets narrower ones. */
export const wideBounds: GatewayBounds = {
  clientConnections: 10_000,
  sourceConnections: 10_000,
  upstreamConnections: 10_000,
  accountConnections: 10_000,
  backendConnections: 10_000,
  backendSourceConnections: 10_000,
  backendQueue: 100,
  backendSourceQueue: 10_000,
  backendQueueMs: 20_000,
  streamResets: 10_000,
  responseEncoders: 256,
  linkUnreadMib: 64,
  agentWaitMs: 0,
  agentWaiting: 1000,
};
