import { Type } from 'typebox';

import type { Call } from '../../api/call.ts';
import { invalidValue, listEntryTooLong, preconditionFailed } from '../../api/errors.ts';
import { dryRunParameter, flagParameter, readFlag } from '../../api/flag-parameter.ts';
import { setEtag } from '../../api/http/etag.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import { mapInTurns } from '../../lib/map-in-turns.ts';
import { configurationKinds } from '../configuration-kind.ts';
import type { Resource, ResourceContext } from '../resource.ts';
import { applyEntries, currentState, earlierMomentsOf, pastState } from './apply-entries.ts';
import * as errors from './errors.ts';
import { placeOf } from './entry-place.ts';
import {
  ConfigurationReturnBody,
  checkMayLookBack,
  momentErrors,
  momentOperations,
  momentParameter,
} from './moment-operations.ts';
import { migrations } from './names.ts';
import {
  aboutMoment,
  ConfigurationApplied,
  ConfigurationFieldChange,
  ConfigurationMoment,
  ConfigurationNames,
  ConfigurationStep,
  entriesSchema,
} from './schema.ts';
import { earlierMoments } from './service.ts';
import { digestOf } from './state.ts';

const path = '/configuration';
const tag = 'Configuration';
const bodyLimitBytes = 32 * 1024 * 1024;
/** A policy of 100,000 rules, or an edge with very many routes; parsed in about 25 ms. */
const entryLimitBytes = 4 * 1024 * 1024;

function configurationOperations(context: ResourceContext): readonly Operation[] {
  const kinds = context.services.all(configurationKinds);
  const entries = entriesSchema(kinds);
  return [
    operation({
      method: 'GET',
      path,
      operationId: 'ConfigurationGet',
      summary: 'Get the configuration',
      description:
        'Every IP policy with its rules, IP restriction, backend, reserved domain and address, edge, cloud endpoint and vault of the account, as entries that refer to each other by name. Private keys, passwords and client secrets of modules and the values of secrets in vaults are left out. Traffic policies, headers and bodies are as they were given, with the passwords and tokens that somebody may have written into them. A resource that has no name yet gets one, and keeps it.',
      tag,
      rights: 'everyone',
      query: [momentParameter('at', 'The configuration as it was at this moment, for admins.')],
      mayBeLarge: true,
      status: 200,
      response: Type.Object(
        { entries, moment: Type.Optional(Type.Ref('ConfigurationMoment')), ...aboutMoment.properties },
        { $id: 'Configuration' },
      ),
      errors: momentErrors,
      handle: async (call) => {
        const { at } = call.filters;
        if (at !== undefined) checkMayLookBack(call);
        const past = at === undefined ? undefined : await pastState(context, call, at);
        const state = past?.state ?? (await currentState(context, call, { remember: true }));
        setEtag(call, await digestOf(state, call.isAbandoned));
        const all = [...state.entries.values()].flatMap((ofKind) => [...ofKind.values()]);
        const shown = await mapInTurns(all, ({ kind, name, fields }) => ({ kind: kind.kind, name, ...fields }));
        if (past === undefined) return { entries: shown };
        const { moment, neighbours } = past;
        return { entries: shown, moment, ...neighbours, ids: all.map(({ document }) => document.id) };
      },
    }),
    operation({
      method: 'POST',
      path,
      operationId: 'ConfigurationApply',
      summary: 'Make the configuration what the entries say',
      description:
        'All or nothing, in one transaction, with the checks and rights of single calls. An entry describes its whole resource: a field that it leaves out takes its default, except the rules of an IP policy, which stay as they are. Resources ' +
        'that no entry declares stay as they are, unless `prune` is given. Resources that are already as declared are not changed.',
      tag,
      rights: 'unprotected',
      isRehearsable: true,
      body: entries,
      bodyForm: 'list',
      bodyLimit: bodyLimitBytes,
      entryLimitBytes,
      entryPlace: placeOf,
      query: [dryRunParameter, flagParameter('prune', 'true: resources that no entry declares are deleted.')],
      mayBeLarge: true,
      status: 200,
      response: ConfigurationApplied,
      accepts: ['IfMatch', 'AllowLockout'],
      errors: [
        invalidValue,
        preconditionFailed,
        listEntryTooLong,
        ...Object.values(errors),
        ...kinds.flatMap((kind) => kind.errors),
      ],
      handle: async (call: Call<readonly { readonly kind: string; readonly name: string }[]>) => {
        const dryRun = readFlag(call, 'dry_run');
        // Whoever asks for changes and leaves gets them.
        const isAbandoned = dryRun ? call.isAbandoned : () => false;
        const options = { dryRun, prune: readFlag(call, 'prune') };
        const result = await applyEntries(context, { ...call, isAbandoned }, options);
        return { ...result.head, steps: result.steps };
      },
    }),
    operation({
      method: 'GET',
      path: `${path}/names`,
      operationId: 'ConfigurationNames',
      summary: 'List the names of the configuration',
      description:
        'The name that each resource has in the configuration, by which entries refer to each other. A resource that has no name yet gets one, and keeps it.',
      tag,
      rights: 'everyone',
      mayBeLarge: true,
      status: 200,
      response: ConfigurationNames,
      errors: [],
      handle: async (call) => {
        const state = await currentState(context, call, { remember: true });
        const all = [...state.entries.values()].flatMap((ofKind) => [...ofKind.values()]);
        return {
          names: await mapInTurns(all, ({ kind, name, document }) => ({ kind: kind.kind, name, id: document.id })),
        };
      },
    }),
    ...momentOperations(context),
  ];
}

/** All resources of an account at once, as files describe them. */
export const configurationResource: Resource = {
  errors: Object.values(errors),
  migrations,
  schemas: [
    ConfigurationMoment,
    ConfigurationNames,
    ConfigurationReturnBody,
    ConfigurationFieldChange,
    ConfigurationStep,
  ],
  operations: configurationOperations,
  provide: ({ store, services }) => services.provide(earlierMoments, earlierMomentsOf(store)),
};
