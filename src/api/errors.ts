import { defineError } from '../errors/user-error.ts';

export const authorizationMissing = defineError(
  200,
  401,
  'No Authorization header was sent. Send "Authorization: Bearer <token>" with the token of an API key.',
);

export const authorizationMalformed = defineError(
  201,
  401,
  'The Authorization header is not of the form "Bearer <token>". Send the scheme "Bearer", one space and the token of an API key.',
);

export const tokenMalformed = defineError(
  202,
  401,
  'This is not the token of an API key: those have another form. Send the whole token as it was shown when the key was created.',
);

export const tokenUnknown = defineError(
  203,
  401,
  'The API key token is unknown or has been revoked. Check that the whole token is sent, and that it is not the token of a credential, which is for agents alone; or create a new key with one that works.',
);

export const keyIdInsteadOfToken = defineError(
  208,
  401,
  'The bearer value is the id of an API key, not its token. The token was shown once, when the key was created; if it is lost, create a new key.',
);

export const unsupportedMediaType = defineError(
  210,
  415,
  'The {header} {value} is not supported. Send the body as application/json, as it is.',
);

export const bodyNotExpected = defineError(211, 400, '{method} {path} takes no body. Send the request without one.');

export const bodyIncomplete = defineError(212, 400, 'The request body could not be read completely. Send it again.');

export const bodyUnreadable = defineError(
  213,
  400,
  'The request body cannot be read: {reason}. Correct it and send it again.',
);

export const unknownField = defineError(214, 400, 'Unknown field {field}. {remedy}');

export const invalidValue = defineError(215, 400, 'The value of {field} is not acceptable: it {reason}.');

export const contentTypeMissing = defineError(
  216,
  415,
  'The request has a body but no Content-Type. Send "Content-Type: application/json".',
);

export const versionNotSupported = defineError(
  217,
  400,
  'The version {value} in the header {header} is not supported. Send "{header}: 2".',
);

export const versionMissing = defineError(218, 400, 'The version header is missing. {remedy}');

export const sourceRefused = defineError(
  220,
  403,
  'Calls from {address} are refused by the IP restriction {restriction} of this account. Call from an address its IP policies allow, or ask an administrator to change them; on the host, "gatehouse restrictions disable {restriction}" lifts it.',
);

export const notFound = defineError(
  222,
  404,
  'There is no {noun} with the id {id}. Check the id, or list them to see which exist.',
);

export const rateLimited = defineError(
  226,
  429,
  'This account made more than {limit} calls within a minute. Wait {seconds} seconds and try again; the operator sets the limit (GATEHOUSE_RATE_LIMIT).',
);

export const wrongIdKind = defineError(
  227,
  400,
  '{field} {id} is not an id of the expected kind: it must be "{prefix}_" followed by letters and digits.',
);

export const queryUnreadable = defineError(230, 400, 'The query string cannot be parsed: {reason}.');

export const unknownQueryParameter = defineError(231, 400, 'Unknown query parameter {name}. This call takes: {known}.');

export const repeatedQueryParameter = defineError(
  232,
  400,
  'The query parameter {name} is given more than once. Give it once.',
);

export const limitOutOfRange = defineError(233, 400, 'The limit {limit} is out of range. Give a number from 1 to 100.');

export const invalidTime = defineError(
  241,
  400,
  '{value} is not a time in RFC 3339 form, such as 2026-11-14T10:11:14Z.',
);

export const badFilter = defineError(
  250,
  400,
  'The filter {filter} cannot be used. At character {at}: {reason}. A filter looks like obj.description == "shop" && obj.created_at > timestamp("2026-01-31T00:00:00Z").',
);

export const filterTooLong = defineError(
  20230,
  400,
  'The filter has {length} characters, where {limit} are allowed. Shorten it, or ask in several calls.',
);

export const filterLookups = defineError(
  20265,
  400,
  'The filter compares {count} times with a list or a map, where {limit} are allowed, because each comparison reads all of it. Ask in several calls.',
);

export const filterRowsReached = defineError(
  20231,
  400,
  'The filter looked at {rows} entries, the most that one call may, and none passed. Continue with {next}, or narrow it by time, such as obj.created_at > timestamp("{time}"). The operator can raise GATEHOUSE_FILTER_ROWS.',
);

export const wrongIdKindOfSeveral = defineError(
  243,
  400,
  '{field} {id} is not of the expected kind: it must start with one of: {prefixes}.',
);

export const limitNotANumber = defineError(
  244,
  400,
  'The limit {limit} is not a whole number. Give one from 1 to 100.',
);

export const descriptionTooLong = defineError(
  604,
  400,
  'The description is too long: {bytes} bytes, where 255 are allowed (in UTF-8). Shorten it.',
);

export const metadataTooLong = defineError(
  605,
  400,
  'The metadata is too long: {bytes} bytes, where 4096 are allowed (in UTF-8). Shorten it.',
);

export const ownerInactive = defineError(
  636,
  403,
  'The owner of this API key, {owner}, is inactive. Ask an admin to activate it, or use a key of another owner.',
);

export const keyExpired = defineError(
  20069,
  401,
  'This API key expired at {expired}. Its owner or an admin can set a later expires_at with another key; else use another key.',
);

export const keyReadOnly = defineError(
  20070,
  403,
  'The API key {key} is read-only: {method} is not possible with it. Use a key that may write.',
);

export const viewersRead = defineError(
  20299,
  403,
  'A viewer may only read: {method} is not possible. Ask an admin to make you a member, or use a key whose owner is not a viewer.',
);

export const invitationOver = defineError(
  20300,
  404,
  'This invitation is no longer valid: it was used, withdrawn or replaced, it has expired, or the person who made it is no longer an admin. Ask an admin for a new one.',
);

export const keySourceRefused = defineError(
  20071,
  403,
  'The API key {key} is not accepted from {address}: the IP policies in its ip_policy_ids do not allow that address. Call from one that they allow, or ask the owner of the key or an admin to change them.',
);

export const tooManyFailures = defineError(
  20072,
  429,
  'Authentication from {source} has failed too often within a minute. Check the token: a valid one is accepted at any time, and others are refused for {seconds} seconds. The operator sets the limits (GATEHOUSE_AUTH_FAILURES, GATEHOUSE_AUTH_FAILURES_SLOWED, GATEHOUSE_AUTH_FAILURES_HELD).',
);

export const pathNotFound = defineError(20001, 404, 'There is nothing at {path}. {remedy}');

export const notOffered = defineError(20191, 404, 'Gatehouse has no {what} ({path}). {instead}');

export const readOnlyField = defineError(
  20190,
  400,
  'The field {field} cannot be changed: it is {stored}. Leave it out, or send it as it is.',
);

export const methodNotAllowed = defineError(20002, 405, '{method} is not possible at {path}. {remedy}');

export const bodyTooLarge = defineError(
  20003,
  413,
  'The request body is larger than {limit} bytes. Send less at once.',
);

export const notReady = defineError(20004, 503, 'The service is not ready: {reason}. Try again shortly.');

export const diskFull = defineError(
  20078,
  503,
  'The disk of the database is full, and nothing was stored. Calls that only read go on. Ask the operator to free space on the disk, then send the request again.',
);

export const adminOnly = defineError(20007, 403, 'Only an admin may {action}. Use an API key whose owner is an admin.');

export const loneSurrogate = defineError(
  20010,
  400,
  'The value of {field} is not valid Unicode text (it has a lone surrogate). Send it in UTF-8.',
);

export const textTooLong = defineError(
  20011,
  400,
  '{field} is too long: {bytes} bytes, where {limit} are allowed (in UTF-8). Shorten it.',
);

export const fieldRequired = defineError(20012, 400, 'The field {field} is required. Send it in the body.');

export const pathMismatch = defineError(
  20015,
  400,
  'The field {field} is {given} in the body and {path} in the path. Leave it out of the body, or make them equal.',
);

export const lostRace = defineError(
  20019,
  409,
  'Another change came first and this one no longer fits. Read the resource and try again.',
);

export const notReverted = defineError(20294, 409, 'The change cannot be reverted: {reason}.');

export const preconditionFailed = defineError(
  20020,
  412,
  'The resource is no longer what If-Match names. Its tag now is {current}. Read it again, then repeat the change.',
);

export const invalidIdempotencyKey = defineError(
  20041,
  400,
  'The Idempotency-Key is not acceptable. Send 1 to 255 printable ASCII characters without spaces.',
);

export const idempotencyKeyReused = defineError(
  20042,
  409,
  'This Idempotency-Key was used for another request within the last 24 hours. Use a new key for each new request.',
);

export const bodyTooDeep = defineError(
  20063,
  400,
  'The request body nests lists and objects deeper than {limit} levels, which no field takes. Send only the fields that the documentation names.',
);

export const tooManyFields = defineError(
  20064,
  400,
  'The request body has more than {limit} fields, which no resource takes. Send only the fields that the documentation names.',
);

export const listEntryTooLong = defineError(
  20065,
  400,
  'Entry {entry} of the list is longer than {limit} bytes, which no entry needs. Shorten it.',
);

export const repeatedHeader = defineError(
  20057,
  400,
  'The header {name} was sent more than once. Send it once, so that nobody can read the request in two ways.',
);

export const overloaded = defineError(
  20058,
  503,
  'The service has more calls than it can serve, and has not started this one. Send it again in a second; the operator sets how long a call may wait (GATEHOUSE_MAX_WAIT_MS).',
);

export const accountBusy = defineError(
  20059,
  503,
  'This account has {limit} calls in progress, the most that it may have, and the service has not started this one. Send fewer at once, and this one again in a second; the operator sets the limits (GATEHOUSE_ACCOUNT_CALLS, GATEHOUSE_MAX_WAIT_MS).',
);

export const tooManyConnections = defineError(
  20073,
  503,
  'Too many connections to the API are open: new ones are closed. The operator can raise GATEHOUSE_API_CONNECTIONS, and the limit of open files with it.',
);

export const tooManySourceConnections = defineError(
  20074,
  503,
  'One address has too many connections to the API: new ones from it are closed. The operator can raise GATEHOUSE_API_SOURCE_CONNECTIONS, or name a proxy in GATEHOUSE_TRUSTED_PROXIES.',
);

export const principalBusy = defineError(
  20060,
  503,
  'This user or bot has {limit} calls in progress, the most that one of an account may have, and the service has not started this one. Send fewer at once, and this one again in a second; the limit is three quarters of what the operator gives an account (GATEHOUSE_ACCOUNT_CALLS).',
);

export const bodiesTooLarge = defineError(
  20061,
  503,
  'The bodies of calls of this user or bot that have not started are as large as the service allows ({limit}). Send fewer at once, and this one again in a second; the limit is 1 MiB for each call that the operator gives an account (GATEHOUSE_ACCOUNT_CALLS).',
);
