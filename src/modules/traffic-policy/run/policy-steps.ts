import { EvaluationFault } from '../../../lib/cel/run.ts';
import { always, requestEffect } from '../../step.ts';
import type {
  AnswerOutcome,
  AnswerStep,
  Answering,
  ConnectionVisit,
  ModulePart,
  Question,
  RequestStep,
  Step,
} from '../../step.ts';
import { someNames } from '../../../lib/some-names.ts';
import type { PlacedAction, Policy, Rule } from '../document/read-policy.ts';
import type { Phase } from '../phases.ts';
import { PolicyVisit } from './policy-visit.ts';
import { RuleIndex } from './rule-index.ts';
import { runRules } from './run-rules.ts';

/** The part that a policy takes in traffic: one step for each phase that has rules. */
export function policyPart(policy: Policy): ModulePart {
  const { rules } = policy;
  const index = RuleIndex.of(rules.on_http_request);
  const steps: Step[] = [];
  if (rules.on_tcp_connect.length > 0) {
    steps.push({
      phase: 'connection',
      reads: [],
      readsVaults: policy.reads.vaults,
      ...sharedFacts(policy, 'on_tcp_connect'),
      run: (visit) => enter(policy, undefined, visit, 'on_tcp_connect'),
    });
  }
  steps.push(...factsOf(rules.on_tcp_connect).flatMap(({ tlsStep }) => tlsStep ?? []));
  if (rules.on_http_request.length > 0) steps.push(requestStep(policy, index));
  if (factsOf(rules.on_http_response).some(({ needsPlainAnswer }) => needsPlainAnswer === true))
    steps.push(requestEffect('forward', () => undefined, { changes: { adds: [], removes: ofOtherForms } }));
  const answers = rules.on_http_response.length === 0 ? [] : [answerStep(policy)];
  return { steps, answers };
}

/** Headers by which clients ask for a body in another form, or for a part of it. */
const ofOtherForms = ['accept-encoding', 'if-range', 'range'];

function requestStep(policy: Policy, index: RuleIndex | undefined): RequestStep {
  const list = policy.rules.on_http_request;
  const facts = factsOf(list);
  const changes = facts.flatMap((each) => each.changes ?? []);
  const reads = facts.flatMap((each) => each.reads ?? []);
  const sole = facts.flatMap(({ soleHeader }) => soleHeader ?? []);
  const signIn = facts.flatMap((each) => each.signIn ?? []);
  return {
    phase: 'request',
    ...sharedFacts(policy, 'on_http_request'),
    reads: policy.reads.headers || reads.includes('all') ? 'all' : reads.flatMap((each) => each),
    ...(sole.length > 0 && { soleHeader: sole }),
    ...(signIn.length > 0 && { signIn }),
    // Rules remove headers from some requests only: they do it themselves, with other spellings of the names.
    ...(changes.length > 0 && { changes: { adds: changes, removes: [] } }),
    run(visit) {
      // Visitors must not say who they are where rules ask only some of them to sign in.
      if (signIn.length > 0) visit.identity ??= [];
      return enter(policy, index, visit, 'on_http_request');
    },
  };
}

function answerStep(policy: Policy): AnswerStep {
  return {
    // One question stands for the rules of all phases.
    asks: asksBefore(policy) ? undefined : questionOf(policy, policy.rules.on_http_response),
    removes: factsOf(policy.rules.on_http_response).flatMap(({ changes = [] }) => changes),
    run: (answer) => onAnswer(policy, answer),
  };
}

function factsOf(rules: readonly Rule[]) {
  return rules.flatMap(({ actions }) => actions.flatMap(({ built: { facts } }) => facts ?? []));
}

/** Facts of the steps of both phases before an answer. */
function sharedFacts(policy: Policy, phase: Phase) {
  const rules = policy.rules[phase];
  const asks = questionOf(policy, rules);
  const stateKeys = factsOf(rules).flatMap(({ stateKey }) => stateKey ?? []);
  const hasChecks = rules.some(({ actions }) => actions.some(({ built }) => built.holds !== undefined));
  return {
    holds: hasChecks || asks !== undefined ? (visit: ConnectionVisit) => holdsBy(policy, phase, asks, visit) : always,
    ...(stateKeys.length > 0 && { stateKey: stateKeys }),
    ...(asks !== undefined && { asks }),
  };
}

/** Undefined: nothing in these rules keeps anybody out, here or at an endpoint that they forward to. */
function questionOf({ reads }: Policy, rules: readonly Rule[]): Question | undefined {
  const types = rules.flatMap(({ actions }) => actions.filter(decidesAccess).map(({ type }) => type));
  if (types.length === 0) return undefined;
  const named = someNames([...new Set(types)], 'and');
  return {
    by: 'all that its rules name',
    needs: () => `must satisfy the rules of the traffic policy (${named})`,
    refusal: 'the rules of its traffic policy refuse this visitor',
    byMethod: true,
    byChance: reads.chance,
  };
}

/** True for an action that keeps visitors out, or leaves that to another endpoint. */
function decidesAccess({ type, guards }: PlacedAction): boolean {
  return guards || type === 'forward-internal';
}

function asksBefore(policy: Policy): boolean {
  const { on_tcp_connect: connect, on_http_request: request } = policy.rules;
  return [connect, request].some((rules) => questionOf(policy, rules) !== undefined);
}

function enter(
  policy: Policy,
  index: RuleIndex | undefined,
  engine: ConnectionVisit,
  phase: 'on_tcp_connect' | 'on_http_request',
) {
  const visit = visitOf(policy, engine);
  visit.enter(phase);
  return runRules(policy.rules[phase], index, visit);
}

function onAnswer(policy: Policy, answer: Answering): AnswerOutcome | undefined {
  const visit = visitOf(policy, answer.visit);
  visit.answer = answer;
  visit.enter('on_http_response');
  const outcome = runRules(policy.rules.on_http_response, undefined, visit);
  if (outcome !== undefined && 'kind' in outcome && (outcome.kind === 'hold' || outcome.kind === 'forward'))
    throw new Error(`an answer cannot ${outcome.kind}`);
  return outcome;
}

/** The state of a visit; a visit that other rules have begun keeps what must not happen twice. */
function visitOf(policy: Policy, engine: ConnectionVisit): PolicyVisit {
  const known = engine.policy instanceof PolicyVisit ? engine.policy : undefined;
  if (known?.policy === policy && known.engine === engine) return known;
  const made = new PolicyVisit(policy, engine, known?.done);
  engine.policy = made;
  return made;
}

/** Asks the checks that have let a visit in. A request that other rules have let in must come again, if these could refuse it. */
function holdsBy(policy: Policy, phase: Phase, asks: Question | undefined, engine: ConnectionVisit): number {
  const { policy: known } = engine;
  if (!(known instanceof PolicyVisit) || known.policy.key !== policy.key) {
    if (asks === undefined) return Infinity;
    return phase === 'on_tcp_connect' ? admitsAgain(policy, engine) : 0;
  }
  let untilMs = Infinity;
  for (const { holds: until } of known.checks) {
    try {
      untilMs = Math.min(untilMs, until?.(known) ?? Infinity);
    } catch (error) {
      if (!(error instanceof EvaluationFault)) throw error;
      return 0;
    }
  }
  const isRunAgain = phase === 'on_tcp_connect' && asks !== undefined && goesByMore(policy);
  return isRunAgain ? Math.min(untilMs, admitsAgain(policy, engine)) : untilMs;
}

/** Whether expressions go by secrets, or by what IP policies say, so that another rule may match by now. */
function goesByMore({ reads, rules }: Policy): boolean {
  const isOnlyTold = ({ guards, built }: PlacedAction) => !guards && built.facts?.ipPolicyIds !== undefined;
  return reads.vaults || rules.on_tcp_connect.some(({ actions }) => actions.some(isOnlyTold));
}

/** Rules for connections go by what is known of an open one too. */
function admitsAgain(policy: Policy, engine: ConnectionVisit): number {
  const visit = new PolicyVisit(policy, engine);
  visit.isOpen = true;
  visit.enter('on_tcp_connect');
  const outcome = runRules(policy.rules.on_tcp_connect, undefined, visit);
  const isAdmitted = outcome === undefined || ('kind' in outcome && outcome.kind === 'forward');
  return isAdmitted ? Infinity : 0;
}
