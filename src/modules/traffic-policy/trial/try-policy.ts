import { UserError } from '../../../errors/user-error.ts';
import { NotDescribed } from '../../not-described.ts';
import type { AccessRules, HeaderList, Outcome, RequestVisit } from '../../step.ts';
import { actions } from '../actions/index.ts';
import type { PlacedAction, Policy } from '../document/read-policy.ts';
import type { Phase } from '../phases.ts';
import { PolicyVisit } from '../run/policy-visit.ts';
import { runRules } from '../run/run-rules.ts';
import { describedVisit } from './described-visit.ts';
import type { DescribedRequest } from './described-visit.ts';
import { Teller } from './teller.ts';
import type { ToldRule } from './teller.ts';

/** What would become of a visit. */
export interface Trial {
  readonly rules: readonly ToldRule[];
  /** The policy has more expressions and actions than are told. */
  readonly isCut: boolean;
  readonly verdict: 'passes' | 'answers' | 'refuses' | 'closes' | 'forwards' | 'depends';
  readonly explanation: string;
  /** What was not described, in words. */
  readonly dependsOn: readonly string[];
  /** What goes to the upstream or endpoint, where something does. */
  readonly upstream: { readonly url: string; readonly headers: HeaderList } | undefined;
  /** What the visitor gets, as far as it is known. */
  readonly answer:
    | { readonly status: number; readonly headers: HeaderList; readonly body: string | undefined }
    | undefined;
}

interface Depends {
  readonly kind: 'depends';
  readonly what: string;
  /** True: the action waits for something. */
  readonly waits: boolean;
}

type End = Outcome | Depends | undefined;

/** Runs a policy for a described visit, without an effect outside of it. */
export function tryPolicy(
  policy: Policy,
  request: DescribedRequest,
  access: Pick<AccessRules, 'allows' | 'denies'>,
): Trial {
  const engine = describedVisit(request, access);
  const run = new TrialRun(policy, request, engine);
  const isHttp = request.endpoint.protocol.startsWith('http');
  const end = run.phase('on_tcp_connect') ?? (isHttp ? run.phase('on_http_request') : undefined);
  const answered = isHttp ? run.answers(end) : undefined;
  return { ...run.told(), ...presentEnd(run, answered ?? end, engine, request) };
}

class TrialRun {
  readonly dependsOn = new Set<string>();
  /** The answer on its way to the visitor, as rules have changed it. */
  answer: Trial['answer'];
  readonly #policy: Policy;
  readonly #request: DescribedRequest;
  readonly #engine: RequestVisit;
  readonly #visit: PolicyVisit;
  readonly #teller: Teller;

  constructor(policy: Policy, request: DescribedRequest, engine: RequestVisit) {
    this.#policy = policy;
    this.#request = request;
    this.#engine = engine;
    this.#visit = new PolicyVisit(policy, engine);
    engine.policy = this.#visit;
    this.#teller = new Teller(this.#visit);
    this.#visit.recorder = this.#teller;
    if (policy.reads.chance) this.dependsOn.add('chance, so that another run may end otherwise');
  }

  phase(phase: Phase): End {
    const visit = this.#visit;
    visit.enter(phase);
    for (const [name, value] of Object.entries(this.#request.vars)) visit.vars.set(name, value);
    this.#teller.begin();
    for (;;) {
      const end = this.#runOn(phase);
      if (end === undefined || !('kind' in end) || end.kind !== 'depends') return end;
      const action = this.#next();
      this.dependsOn.add(end.what);
      this.#teller.depends(this.#policy.rules[phase][visit.position.rule]!, action, end.what);
      if (action === undefined || !mayPass(action, end)) return end;
      // Nothing later may take what it would have found out for absent.
      const name = resultName(action);
      if (name !== undefined) visit.setResult(name, () => throwNotDescribed(`the result of ${action.path}`));
      visit.position.action++;
    }
  }

  /** Runs the rules for answers. Undefined: they do not change the end. */
  answers(end: End): End {
    const isOwn = end !== undefined && 'kind' in end && end.kind === 'answer';
    if (end !== undefined && !isOwn) return undefined;
    const own = isOwn ? end.answer : undefined;
    const found = own ?? this.#request.response;
    const hasRules = this.#policy.rules.on_http_response.length > 0;
    if (found === undefined) {
      if (hasRules) this.dependsOn.add('the answer of the upstream, which the rules of on_http_response go by');
      return undefined;
    }
    const { status, headers } = found;
    const body = own?.body;
    this.answer = { status, headers, body };
    if (!hasRules || (isOwn && !end.isChanged)) return undefined;
    const answering = {
      request: { method: this.#request.method, headers: this.#request.headers },
      visit: this.#engine,
      status,
      headers,
      contentLength: body === undefined ? undefined : Buffer.byteLength(body),
      openTransform: undefined,
      mayEncode: () => true,
      hold: () => {},
      isEncodable: true,
    };
    this.#visit.answer = answering;
    const changed = this.phase('on_http_response');
    this.answer = { status, headers: answering.headers, body };
    if (changed !== undefined && 'kind' in changed && changed.kind === 'answer') {
      const { answer } = changed;
      this.answer = { status: answer.status, headers: answer.headers, body: answer.body };
    }
    return changed;
  }

  told(): Pick<Trial, 'rules' | 'isCut' | 'dependsOn'> {
    return { rules: this.#teller.told(this.#policy), isCut: this.#teller.isCut, dependsOn: [...this.dependsOn] };
  }

  /** Path of the rule or action that has spoken. */
  place(): string {
    const { phase, position } = this.#visit;
    const action = this.#next();
    if (action !== undefined) return `${action.path} (${action.type})`;
    return phase === undefined ? '' : (this.#policy.rules[phase][position.rule]?.path ?? phase);
  }

  #next(): PlacedAction | undefined {
    const { phase, position } = this.#visit;
    return phase === undefined ? undefined : this.#policy.rules[phase][position.rule]?.actions[position.action];
  }

  #runOn(phase: Phase): End {
    try {
      const outcome = runRules(this.#policy.rules[phase], undefined, this.#visit);
      if (outcome === undefined || outcome instanceof UserError) return outcome;
      if (outcome.kind === 'hold') return { kind: 'depends', what: 'the body of the request', waits: true };
      if (outcome.kind === 'wait')
        return { kind: 'depends', what: `what ${this.place()} learns elsewhere`, waits: true };
      return outcome;
    } catch (error) {
      if (error instanceof NotDescribed) return { kind: 'depends', what: error.message, waits: false };
      throw error;
    }
  }
}

/** Whether the rules behind an action can be told on the assumption that it lets the visit pass. */
function mayPass({ guards, built }: PlacedAction, { waits }: Depends): boolean {
  return !built.ends && (guards || waits || built.facts?.changes !== undefined);
}

function resultName({ type }: PlacedAction): string | undefined {
  return actions.find((each) => each.type === type)?.result?.name;
}

function throwNotDescribed(what: string): never {
  throw new NotDescribed(what);
}

function presentEnd(
  run: TrialRun,
  end: End,
  engine: RequestVisit,
  { host, endpoint: { protocol } }: DescribedRequest,
): Pick<Trial, 'verdict' | 'explanation' | 'upstream' | 'answer'> {
  const isHttp = protocol.startsWith('http');
  const where = run.place();
  const { answer } = run;
  if (end === undefined) {
    const more = run.dependsOn.size === 0 ? '' : ', if what it depends on lets it pass';
    const explanation = `The ${isHttp ? 'request' : 'connection'} goes on to the upstream${more}.`;
    const upstream = {
      url: isHttp ? `${protocol}://${host}${engine.upstreamTarget}` : `${protocol}://${host}`,
      headers: engine.outgoing,
    };
    return { verdict: 'passes', explanation, upstream, answer };
  }
  const none = { upstream: undefined, answer: undefined };
  if (end instanceof UserError) {
    const refused = { status: end.status, headers: [], body: undefined };
    const explanation = `${where} refuses it with ${end.status}. ${end.message}`;
    return { ...none, verdict: 'refuses', explanation, answer: isHttp ? refused : undefined };
  }
  switch (end.kind) {
    case 'answer': {
      const verdict = end.answer.refusal === undefined ? 'answers' : 'refuses';
      const word = verdict === 'answers' ? 'answers' : 'refuses it';
      return { ...none, verdict, explanation: `${where} ${word} with ${end.answer.status}.`, answer };
    }
    case 'forward':
      return {
        ...none,
        verdict: 'forwards',
        explanation: `${where} forwards it to ${end.url}, whose own rules follow.`,
        upstream: { url: end.url, headers: engine.outgoing },
      };
    case 'depends':
      return { ...none, verdict: 'depends', explanation: `It depends on ${end.what} (${where}).` };
    default:
      return { ...none, verdict: 'closes', explanation: `${where} closes the connection.` };
  }
}
