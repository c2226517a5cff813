import type { SharedModules } from '../../../modules/index.ts';
import { handshakeRules, ofConnection, ofRequest } from '../../../modules/run-steps.ts';
import type { HandshakeRules, Runnable } from '../../../modules/run-steps.ts';
import { always } from '../../../modules/step.ts';
import type { AnswerStep, Step } from '../../../modules/step.ts';
import type { SignIn } from '../../../modules/sign-in.ts';
import { HeaderGuard } from '../headers/header-guard.ts';
import { checkProtocol, refuseHidden, warn } from '../own-steps.ts';
import type { RequestVisit } from '../request-visit.ts';

type RunStep = Runnable<RequestVisit>;

/** All that happens to the requests of a route, in order, and what must be known of it before one comes. */
export interface RequestList extends HandshakeRules {
  readonly steps: readonly RunStep[];
  readonly answers: readonly AnswerStep[];
  /** Names of the modules that the steps are of; those of the gateway's own have none. */
  readonly moduleOf: ReadonlyMap<object, string>;
  /** Names of headers that no answer has, in lower case. */
  readonly removedFromAnswers: readonly string[];
  /** Undefined if no module rewrites requests. */
  readonly guard: HeaderGuard | undefined;
  readonly signIns: readonly SignIn[];
  /** The module that asks for each of these logins. */
  readonly signInModules: readonly (string | undefined)[];
  readonly convertsWebsocket: boolean;
  readonly stateKeys: readonly string[];
}

const warning: RunStep = { run: warn, holds: always, once: 'warnings' };
const protocol: RunStep = { run: checkProtocol, holds: always };

/** Routes whose modules are the same have one list. */
const lists = new WeakMap<SharedModules, RequestList>();

export function requestList(shared: SharedModules): RequestList {
  const list = lists.get(shared) ?? buildList(shared);
  lists.set(shared, list);
  return list;
}

function buildList({ steps, answers, moduleOf, convertsWebsocket }: SharedModules): RequestList {
  const all: readonly RunStep[] = [
    ...ofConnection(steps, 'connection'),
    ...hiddenStep(steps),
    ...ofConnection(steps, 'handshake'),
    ...ofRequest(steps, 'request'),
    warning,
    ...ofRequest(steps, 'admitted'),
    protocol,
    ...ofRequest(steps, 'forward'),
  ];
  return {
    steps: all,
    answers: sharedIfEmpty(answers),
    moduleOf,
    removedFromAnswers: sharedIfEmpty(answers.flatMap(({ removes }) => removes)),
    guard: guardOf(steps),
    signIns: sharedIfEmpty(steps.flatMap(({ signIn }) => signIn ?? none)),
    signInModules: sharedIfEmpty(steps.flatMap((step) => [step.signIn ?? none].flat().map(() => moduleOf.get(step)))),
    ...handshakeRules(steps),
    convertsWebsocket,
    stateKeys: sharedIfEmpty(steps.flatMap(({ stateKey }) => stateKey ?? none)),
  };
}

const none: readonly never[] = [];

/** Lists without something, which are most of very many, share one array. */
function sharedIfEmpty<Value>(values: readonly Value[]): readonly Value[] {
  return values.length === 0 ? none : values;
}

/** Refuses requests whose `Connection` hides from the upstream a header that a step goes by. */
function hiddenStep(steps: readonly Step[]): readonly RunStep[] {
  const names = steps.some(({ reads }) => reads === 'all') ? 'all' : new Set(steps.flatMap(({ reads }) => reads));
  return names !== 'all' && names.size === 0 ? none : [{ run: refuseHidden(names), holds: always }];
}

function guardOf(steps: readonly Step[]): HeaderGuard | undefined {
  const changes = steps.flatMap((step) => step.changes ?? none);
  const sole = steps.flatMap(({ soleHeader }) => soleHeader ?? none);
  if (changes.length === 0 && sole.length === 0) return undefined;
  return new HeaderGuard({
    adds: sharedIfEmpty(changes.flatMap(({ adds }) => adds)),
    removes: sharedIfEmpty(changes.flatMap(({ removes }) => removes)),
    sole,
    checked: sharedIfEmpty(steps.flatMap(({ checkedHeader }) => checkedHeader ?? none)),
  });
}
