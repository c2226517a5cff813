import { Type } from 'typebox';
import type { TSchema } from 'typebox';

import { UserError } from '../../errors/user-error.ts';
import type { EventTarget } from '../../events/event.ts';
import type { EventSettings } from '../resource.ts';
import * as errors from './errors.ts';
import type { StoredTarget } from './table.ts';
import { emailTarget } from './targets/email.ts';
import { fileTarget } from './targets/file.ts';
import { otlpTarget } from './targets/otlp.ts';
import { syslogTarget } from './targets/syslog.ts';
import { exampleWebhook, webhookTarget } from './targets/webhook.ts';

/** Targets of the hosted service that need a service of a cloud. */
const cloudTargets = ['kinesis', 'firehose', 'cloudwatch_logs', 'datadog', 'azure_logs_ingestion'] as const;
const kinds = {
  webhook: webhookTarget,
  email: emailTarget,
  syslog: syslogTarget,
  otlp: otlpTarget,
  file: fileTarget,
} as const;
type Name = keyof typeof kinds;
// The keys of the object are its names.
const names = Object.keys(kinds) as readonly Name[];

const never = Object.fromEntries(
  cloudTargets.map((name) => [
    name,
    Type.Optional(Type.Unsafe<unknown>({ description: 'Not offered. Leave it out, or null.', examples: [null] })),
  ]),
);

export const targetInput = Type.Object(
  {
    ...Object.fromEntries(names.map((name) => [name, Type.Optional(kinds[name].input)])),
    ...never,
  },
  {
    additionalProperties: false,
    description: 'Where events are sent. Exactly one of the targets.',
    examples: [{ webhook: exampleWebhook }],
  },
);

export const targetView = Type.Object(
  {
    ...Object.fromEntries(names.map((name) => [name, Type.Optional(kinds[name].view)])),
    ...Object.fromEntries(
      cloudTargets.map((name): [string, TSchema] => [name, Type.Null({ description: 'Always null.' })]),
    ),
  },
  {
    additionalProperties: false,
    description: 'Where events are sent: one of the targets. Secrets are left out.',
  },
);

export type TargetInput = Readonly<Record<string, unknown>>;

interface AcceptedTarget {
  readonly target: StoredTarget;
  /** JSON that is to be sealed; undefined: what is sealed stays. */
  readonly secrets: string | undefined;
}

export function acceptTarget(
  given: TargetInput,
  previous: StoredTarget | undefined,
  settings: EventSettings,
): AcceptedTarget {
  const named = Object.entries(given).filter(([, value]) => value !== undefined && value !== null);
  const cloud = named.find(([name]) => !isName(name));
  if (cloud !== undefined) throw new UserError(errors.targetNotOffered, { target: cloud[0] });
  const [first, second] = named;
  if (first === undefined) throw new UserError(errors.noTarget, { count: 'none' });
  if (second !== undefined) throw new UserError(errors.noTarget, { count: `${named.length}` });
  const [name, value] = first;
  if (!isName(name)) throw new UserError(errors.targetNotOffered, { target: name });
  const { kept, secret } = kindOf(name).accept(value, previous?.[name], settings);
  return {
    target: { [name]: kept },
    secrets: secret === undefined ? undefined : JSON.stringify(secret === null ? {} : { [name]: secret }),
  };
}

export function presentTarget(target: StoredTarget) {
  return { ...target, ...Object.fromEntries(cloudTargets.map((name) => [name, null])) };
}

/** `secrets`: JSON that `acceptTarget` made. */
export function openTarget(target: StoredTarget, secrets: string, settings: EventSettings): EventTarget {
  const name = nameOf(target);
  const opened: Readonly<Record<string, unknown>> = JSON.parse(secrets);
  return kindOf(name).open(target[name], opened[name], settings);
}

function nameOf(target: StoredTarget): Name {
  const name = names.find((each) => target[each] !== undefined);
  if (name === undefined) throw new Error('the destination has no target');
  return name;
}

function isName(name: string): name is Name {
  return Object.hasOwn(kinds, name);
}

/** A kind whose documents nobody looks into. */
interface AnyKind {
  accept(
    given: unknown,
    previous: unknown,
    settings: EventSettings,
  ): { readonly kept: object; readonly secret: unknown };
  open(kept: unknown, secret: unknown, settings: EventSettings): EventTarget;
}

function kindOf(name: Name): AnyKind {
  // The schema has checked what is given, and only `acceptTarget` writes what is kept.
  return kinds[name];
}
