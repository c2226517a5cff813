export { GatehouseClient } from './client.ts';
export type { AnyInput, CallInput, CallOptions, ClientOptions, Entry, ListId, Reply } from './client.ts';
export type { ServerEvent } from './events.ts';
export { ApiError, ConnectionError } from './errors.ts';
export { visitorAddress, visitorUrl } from './public-address.ts';
export { operations } from './generated.ts';
export type * from './generated.ts';
