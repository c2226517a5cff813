import { Type } from 'typebox';
import type { TSchema } from 'typebox';

import { internalError, overQuota } from '../../errors/shared.ts';
import type { ErrorDefinition } from '../../errors/user-error.ts';
import {
  accountBusy,
  authorizationMalformed,
  authorizationMissing,
  badFilter,
  bodiesTooLarge,
  bodyIncomplete,
  bodyNotExpected,
  bodyTooDeep,
  bodyTooLarge,
  bodyUnreadable,
  contentTypeMissing,
  diskFull,
  fieldRequired,
  filterRowsReached,
  filterLookups,
  filterTooLong,
  invalidTime,
  invalidValue,
  invitationOver,
  keyExpired,
  keyIdInsteadOfToken,
  keyReadOnly,
  keySourceRefused,
  limitNotANumber,
  limitOutOfRange,
  loneSurrogate,
  lostRace,
  notReady,
  overloaded,
  ownerInactive,
  pathMismatch,
  principalBusy,
  queryUnreadable,
  rateLimited,
  repeatedHeader,
  repeatedQueryParameter,
  sourceRefused,
  textTooLong,
  tokenMalformed,
  tokenUnknown,
  tooManyFailures,
  tooManyFields,
  unknownField,
  unknownQueryParameter,
  unsupportedMediaType,
  versionMissing,
  versionNotSupported,
  viewersRead,
  wrongIdKind,
} from '../errors.ts';
import { dashboardHeaderMissing, foreignOrigin, noSession, sessionOver, twoCredentials } from '../dashboard/errors.ts';
import { headerParameters, parametersOf } from './openapi-parameters.ts';
import { toOpenApi } from './openapi-schema.ts';
import { canLackField } from './required-fields.ts';
import type { Operation } from '../operation.ts';
import { roleOf } from '../admission/rights.ts';
import { roles } from '../admission/roles.ts';

const ErrorAnswer = Type.Object(
  {
    error_code: Type.String({
      description: 'The number of the error behind a fixed word.',
      examples: ['ERR_GATEHOUSE_218'],
    }),
    status_code: Type.Integer({ description: 'The HTTP status again.' }),
    msg: Type.String({ description: 'The fault, the value that has it, and the remedy.' }),
    details: Type.Object(
      { operation_id: Type.String({ description: 'Names this call in the log of the server.' }) },
      { description: 'More about this answer; every value is text.', additionalProperties: Type.String() },
    ),
  },
  { $id: 'Error' },
);

const InvitationAccept = Type.Object(
  {
    link: Type.String({
      description: 'The link, or the part of it after "#invite=".',
      examples: ['https://gate.example.com/dashboard/#invite=…'],
    }),
  },
  { $id: 'InvitationAccept', additionalProperties: false },
);
const ShownInvitation = Type.Object(
  {
    name: Type.String({ description: 'The name of the user that the link makes.' }),
    email: Type.Optional(Type.String({ description: 'The e-mail address that was invited, if one was.' })),
    role: Type.String({ enum: [...roles], description: 'The role of that user.' }),
    invited_by: Type.String({ description: 'The name of the admin who invites.' }),
    account: Type.String({ description: 'The name of the account.' }),
    expires_at: Type.String({ format: 'date-time', description: 'When the link ends, RFC 3339.' }),
  },
  { $id: 'ShownInvitation' },
);
const AcceptedInvitation = Type.Object(
  {
    user_id: Type.String({ description: 'Id of the new user.' }),
    name: Type.String({ description: 'Its name.' }),
    role: Type.String({ enum: [...roles], description: 'Rights of the user.' }),
    api_key_id: Type.String({ description: "Id of the user's first API key." }),
    token: Type.String({ description: 'The token of that key, which is shown once.' }),
  },
  { $id: 'AcceptedInvitation' },
);

/** Errors that any call with these traits can meet, beside its own. */
const commonErrors: readonly ErrorDefinition[] = [
  authorizationMissing,
  authorizationMalformed,
  tokenMalformed,
  tokenUnknown,
  keyIdInsteadOfToken,
  keyExpired,
  sourceRefused,
  keySourceRefused,
  ownerInactive,
  dashboardHeaderMissing,
  noSession,
  sessionOver,
  foreignOrigin,
  twoCredentials,
  versionNotSupported,
  versionMissing,
  repeatedHeader,
  rateLimited,
  tooManyFailures,
  queryUnreadable,
  unknownQueryParameter,
  internalError,
  notReady,
  overloaded,
  accountBusy,
  principalBusy,
];
/** A write can lose against another one, such as the deletion of the caller's own owner; not every key may write. */
const writeErrors: readonly ErrorDefinition[] = [lostRace, diskFull, viewersRead, keyReadOnly, overQuota];
const bodyErrors: readonly ErrorDefinition[] = [
  bodiesTooLarge,
  unsupportedMediaType,
  bodyIncomplete,
  bodyUnreadable,
  unknownField,
  invalidValue,
  contentTypeMissing,
  bodyTooLarge,
  bodyTooDeep,
  tooManyFields,
  loneSurrogate,
  textTooLong,
];
const showErrors: readonly ErrorDefinition[] = [
  invitationOver,
  tooManyFailures,
  sourceRefused,
  foreignOrigin,
  fieldRequired,
  rateLimited,
  overloaded,
  internalError,
];
const acceptErrors: readonly ErrorDefinition[] = [...showErrors, lostRace, overQuota, diskFull];
const noBodyErrors: readonly ErrorDefinition[] = [bodyNotExpected];
const listErrors: readonly ErrorDefinition[] = [wrongIdKind, repeatedQueryParameter, limitOutOfRange, limitNotANumber];
const filterErrors: readonly ErrorDefinition[] = [
  repeatedQueryParameter,
  invalidTime,
  badFilter,
  filterLookups,
  filterTooLong,
  filterRowsReached,
];

type Json = Readonly<Record<string, unknown>>;

/** The OpenAPI 3.1 document of all operations. */
export function describeApi(operations: readonly Operation[], schemas: readonly TSchema[]): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const operation of operations) {
    const path = (paths[operation.path] ??= {});
    path[operation.method.toLowerCase()] = describeOperation(operation, schemas);
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Gatehouse management API',
      version: '2',
      description:
        'API keys, IP policies and restrictions, TCP, TLS and HTTPS edges with their modules. Every request carries ' +
        '`Authorization: Bearer <token>` and `Service-Version: 2`. Requests with a body use `application/json`.',
      license: { name: 'Proprietary', url: 'about:blank' },
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }],
    tags: [...new Set(operations.map(({ tag }) => tag))].map((name) => ({ name })),
    paths: { ...paths, ...publicPaths },
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: 'The token of an API key.' } },
      parameters: headerParameters,
      schemas: Object.fromEntries(
        [
          ErrorAnswer,
          InvitationAccept,
          AcceptedInvitation,
          ShownInvitation,
          ...schemas,
          ...namedAnswers(operations),
        ].map((schema) => [String(idOf(schema)), toOpenApi(schema, true)]),
      ),
    },
  };
}

function describeOperation(operation: Operation, schemas: readonly TSchema[]): Json {
  const { operationId, summary, description, tag, body, status, response, example } = operation;
  const errors = [
    ...commonErrors,
    ...(operation.method === 'GET' ? [] : writeErrors),
    ...(body === undefined ? noBodyErrors : bodyErrors),
    ...(operation.listedPrefix === undefined ? [] : listErrors),
    ...(operation.filterFields === undefined ? [] : filterErrors),
    ...(operation.query === undefined ? [] : [repeatedQueryParameter]),
    ...(body !== undefined && operation.path.includes('{') ? [pathMismatch] : []),
    ...(canLackField(operation, schemas) ? [fieldRequired] : []),
    ...(typeof operation.rights === 'object' ? [operation.rights.error] : []),
    ...operation.errors,
  ];
  const type = operation.streams === true ? 'text/event-stream' : 'application/json';
  const content = response === undefined ? undefined : { [type]: jsonContent(response, example) };
  return {
    operationId,
    summary,
    ...(description === undefined ? {} : { description }),
    tags: [tag],
    'x-rights': roleOf(operation.rights),
    ...(operation.isRehearsable === true && { 'x-rehearsable': true }),
    parameters: parametersOf(operation),
    ...(body === undefined ? {} : { requestBody: requestBodyOf(operation, body) }),
    responses: {
      [status]: {
        description: status === 204 ? 'Done; no body.' : 'Success.',
        ...(content === undefined ? {} : { content }),
      },
      ...errorResponses(errors),
    },
  };
}

function jsonContent(schema: TSchema, example: unknown): Json {
  return { schema: toOpenApi(schema, false), ...(example === undefined ? {} : { example }) };
}

function requestBodyOf(operation: Operation, body: TSchema): Json {
  const schema = toOpenApi(body, false);
  const types = operation.bodyTypes ?? ['application/json'];
  const content = Object.fromEntries(
    types.map((type) => [type, type === 'application/json' ? { schema } : { schema: { type: 'string' } }]),
  );
  // Without required fields, no body counts as an empty one.
  const required =
    operation.bodyForm === 'list' || ('required' in body && Array.isArray(body.required) && body.required.length > 0);
  return { required, content };
}

/** One answer for each status, naming the codes that come with it. */
function errorResponses(errors: readonly ErrorDefinition[]): Json {
  const byStatus = Map.groupBy(new Set(errors), ({ status }) => status);
  const sorted = [...byStatus].toSorted(([a], [b]) => a - b);
  return Object.fromEntries(
    sorted.map(([status, of]) => [
      status,
      {
        description: of
          .toSorted((a, b) => a.code - b.code)
          .map(({ code, message }) => `${code}: ${message}`)
          .join('\n\n'),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    ]),
  );
}

/** Answers with a name of their own, such as the pages of lists, are defined with the operation alone. */
function namedAnswers(operations: readonly Operation[]): readonly TSchema[] {
  return operations.flatMap(({ response }) =>
    response !== undefined && idOf(response) !== undefined ? [response] : [],
  );
}

function idOf(schema: TSchema): unknown {
  return '$id' in schema ? schema.$id : undefined;
}

interface PublicPath {
  readonly errors: readonly ErrorDefinition[];
  readonly pem?: boolean;
  /** Answers beside success and errors. */
  readonly answers?: Json;
}

function publicPath(operationId: string, summary: string, { errors, pem = false, answers = {} }: PublicPath): Json {
  const content = pem
    ? { 'application/x-pem-file': { schema: { type: 'string' } } }
    : { 'application/json': { schema: { type: 'object' } } };
  const success = { description: 'Success.', content };
  return {
    get: {
      operationId,
      summary,
      tags: ['Service'],
      security: [],
      responses: { 200: success, ...answers, ...errorResponses(errors) },
    },
  };
}

const publicPaths: Json = {
  '/openapi.json': publicPath('OpenApi', 'This document', {
    errors: [internalError],
    answers: { 304: { description: 'The document is still the one that If-None-Match names.' } },
  }),
  '/configuration.schema.json': publicPath(
    'ConfigurationSchema',
    'The JSON Schema of configuration files, for editors',
    {
      errors: [internalError],
      answers: { 304: { description: 'The document is still the one that If-None-Match names.' } },
    },
  ),
  '/healthz': publicPath('Health', 'The process runs', { errors: [internalError] }),
  '/local_ca.pem': publicPath(
    'LocalCa',
    'The certificate that clients must trust for HTTPS edges without a certificate of their own',
    { errors: [internalError, notReady], pem: true },
  ),
  '/invitations/accept': invitationPath('Accept', 'AcceptedInvitation', {
    summary: 'Accept invitation',
    description:
      'Makes the invited user, with a first API key, whose token is shown once. The call needs no key, and works once. The address must be one that the IP restrictions of the account let in.',
    errors: acceptErrors,
  }),
  '/invitations/show': invitationPath('Show', 'ShownInvitation', {
    summary: 'Show what a link invites to',
    description:
      'Whom the link is for, who invites, to which account and with which role. It needs no key, and does not use the link up. ' +
      'The address must be one that the IP restrictions of the account let in.',
    errors: showErrors,
  }),
  '/readyz': publicPath('Readiness', 'The service can do its work', { errors: [internalError, notReady] }),
};

/** A call of whoever has the link of an invitation, and no key yet. */
function invitationPath(
  verb: string,
  answer: string,
  { errors, ...words }: { summary: string; description: string; errors: readonly ErrorDefinition[] },
) {
  return {
    post: {
      operationId: `Invitations${verb}`,
      ...words,
      tags: ['Users'],
      security: [],
      requestBody: {
        required: true,
        content: { 'application/json': { schema: { $ref: '#/components/schemas/InvitationAccept' } } },
      },
      responses: {
        200: {
          description: 'Success.',
          content: { 'application/json': { schema: { $ref: `#/components/schemas/${answer}` } } },
        },
        ...errorResponses([
          ...errors,
          ...bodyErrors.filter(({ code }) => code !== bodiesTooLarge.code && code !== textTooLong.code),
        ]),
      },
    },
  };
}
