/** The first four bytes of every stream, big endian, say what it is for. */
export const streamTypes = {
  auth: 0,
  bind: 1,
  unbind: 2,
  proxy: 3,
  restart: 4,
  stop: 5,
  update: 6,
  startTunnelWithLabel: 7,
  srvInfo: 8,
  stopTunnel: 9,
  patchTunnelState: 10,
  heartbeat: 0xffffffff,
} as const;

export const typeBytes = 4;

/** The start of a stream: its type and, in the same frame because some agents read both at once, what follows. */
export function typedStart(type: number, body: Buffer | string = ''): Buffer {
  const rest = typeof body === 'string' ? Buffer.from(body) : body;
  const start = Buffer.allocUnsafe(typeBytes + rest.length);
  start.writeUInt32BE(type, 0);
  rest.copy(start, typeBytes);
  return start;
}
