import { Type } from 'typebox';

import { adminsMay } from '../../api/admission/rights.ts';
import type { Call } from '../../api/call.ts';
import { adminOnly, invalidValue, preconditionFailed } from '../../api/errors.ts';
import { dryRunParameter, readFlag } from '../../api/flag-parameter.ts';
import { operation } from '../../api/operation.ts';
import type { Operation, QueryParameter } from '../../api/operation.ts';
import { configurationKinds } from '../configuration-kind.ts';
import { rulesNotKept } from '../ip-policy-rules/errors.ts';
import type { ResourceContext } from '../resource.ts';
import { compareMoments, returnTo } from './apply-entries.ts';
import * as errors from './errors.ts';
import { ConfigurationDiff, ConfigurationReturned } from './schema.ts';

const tag = 'Configuration';
const readRights = adminsMay('read the configuration of an earlier moment');

const momentForm =
  'A time in RFC 3339 form, which stands for the end of its second, or the version of a change, which stands for the state that it made.';

export const ConfigurationReturnBody = Type.Object(
  {
    at: Type.String({ description: `The moment to return to. ${momentForm}`, examples: ['2026-11-14T10:11:14Z'] }),
  },
  { $id: 'ConfigurationReturn', additionalProperties: false },
);

/** Errors of every operation that takes a moment. */
export const momentErrors = [
  errors.invalidMoment,
  errors.momentNotKept,
  errors.momentToCome,
  errors.tooManyMoments,
  rulesNotKept,
  adminOnly,
];

export function momentParameter(name: string, description: string): QueryParameter {
  return {
    name,
    description: `${description} ${momentForm}`,
    schema: Type.String({ examples: ['2026-11-14T10:11:14Z'] }),
  };
}

/** Earlier moments are read from the change log, by those who may read it. */
export function checkMayLookBack({ caller }: Call): void {
  if (caller.principal.role !== 'admin') throw readRights.refusal();
}

export function momentOperations(context: ResourceContext): readonly Operation[] {
  const kinds = context.services.all(configurationKinds);
  return [
    operation({
      method: 'GET',
      path: '/configuration/diff',
      operationId: 'ConfigurationDiff',
      summary: 'Compare the configuration of two moments',
      description: 'What changed in between, as `POST /configuration` tells what it changes.',
      tag,
      rights: readRights,
      query: [
        momentParameter('from', 'The earlier moment; without it, the one before the last change.'),
        momentParameter('to', 'The later moment; without it, now.'),
      ],
      mayBeLarge: true,
      status: 200,
      response: ConfigurationDiff,
      errors: momentErrors,
      handle: (call) => compareMoments(context, call, call.filters['from'], call.filters['to']),
    }),
    operation({
      method: 'POST',
      path: '/configuration/return',
      operationId: 'ConfigurationReturn',
      summary: 'Return to the configuration of a moment',
      description:
        'Makes the configuration what it was, as one change, in one transaction, with the checks and rights of single calls: what was made since is deleted, and what was deleted since is made anew, with a new id. If something does not fit any more, nothing is changed, and the error says what and why. Keys, users, sessions, certificates and the secrets of vaults stay as they are.',
      tag,
      rights: adminsMay('return to an earlier configuration'),
      isRehearsable: true,
      body: ConfigurationReturnBody,
      query: [dryRunParameter],
      mayBeLarge: true,
      status: 200,
      response: ConfigurationReturned,
      accepts: ['IfMatch', 'AllowLockout'],
      errors: [
        ...momentErrors,
        invalidValue,
        preconditionFailed,
        errors.tooManyEntries,
        errors.unknownName,
        ...kinds.flatMap((kind) => kind.errors),
      ],
      handle: async (call) => {
        const dryRun = readFlag(call, 'dry_run');
        // Whoever asks for changes and leaves gets them.
        const isAbandoned = dryRun ? call.isAbandoned : () => false;
        return returnTo(context, { ...call, isAbandoned }, call.body.at, dryRun);
      },
    }),
  ];
}
