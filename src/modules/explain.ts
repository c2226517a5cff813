import { refusedByModule } from '../errors/shared.ts';
import { UserError } from '../errors/user-error.ts';
import { formatIp } from '../lib/ip/address.ts';
import type { IpAddress } from '../lib/ip/address.ts';
import type { NamedPart } from './index.ts';
import { blankVisit, NotDescribed } from './not-described.ts';
import { judgeVisitor } from './sign-in.ts';
import type { VisitorIdentity } from './sign-in.ts';
import type { ShownCertificate } from './shown-certificate.ts';
import type {
  AccessRules,
  HeaderList,
  ModulePart,
  Outcome,
  Question,
  RequestVisit,
  Step,
  StepServices,
} from './step.ts';

/** A visitor as somebody describes them. */
export interface DescribedVisitor {
  readonly source: IpAddress;
  /** Undefined: nobody knows who it is. */
  readonly person: VisitorIdentity | undefined;
  /** Undefined: nobody knows it, and GET is taken where it hardly matters. */
  readonly method?: string | undefined;
  /** All that the request has; undefined: nobody knows them. */
  readonly headers?: HeaderList | undefined;
  /** Shown where one is asked for; undefined: nobody knows which. */
  readonly certificate?: Pick<ShownCertificate, 'subject' | 'fault'> | undefined;
}

/** Policies that a step has asked about the address. */
export interface AskedPolicies {
  readonly policyIds: readonly string[];
  readonly isAllowed: boolean;
}

/** Effect that a step would have on a visitor. */
export interface ToldStep {
  readonly module: string;
  /** False: its module is switched off. */
  readonly isEnabled: boolean;
  /** `depends`: on something that is not known of the visitor. `unloadable`: its module cannot be built, so that nobody passes. */
  readonly word: 'passes' | 'refuses' | 'depends' | 'unloadable';
  readonly asked: readonly AskedPolicies[];
  readonly asks: Question | undefined;
  /** The step asks for something else where the visitor comes from another address. */
  readonly isSpared: boolean;
}

/** The first status of an answer that gives the visitor nothing. */
const firstOfFaults = 400;

/** Rules of IP policies for the address. */
type Access = Pick<AccessRules, 'allows' | 'denies'>;

/**
 * Runs the steps of modules that decide about access for a described visitor, each of them, without an effect outside. Of
 * modules that are switched off, those are run that go by the address alone.
 */
export function explain(modules: readonly NamedPart[], visitor: DescribedVisitor, access: Access): readonly ToldStep[] {
  return modules.flatMap(({ name, isEnabled, build }): readonly ToldStep[] => {
    const told = { module: name, isEnabled };
    const part = tryBuild(build);
    // A gateway cannot build it either, and closes what has it.
    if (part === undefined)
      return isEnabled ? [{ ...told, word: 'unloadable', asked: [], asks: undefined, isSpared: false }] : [];
    const seen: Seen = { asked: [], isSpared: false, ca: '', byMethod: false };
    const visit = describedVisit(visitor, access, seen);
    const steps = (part.steps ?? []).filter(
      ({ phase, asks }) => phase !== 'admitted' && phase !== 'forward' && (isEnabled || asks === undefined),
    );
    let isKnown = true;
    const ofSteps = steps.map((step): ToldStep => {
      const byMethod = step.asks?.byMethod === true;
      Object.assign(seen, { asked: [], isSpared: false, ca: step.clientCa ?? '', byMethod });
      // What one of its steps has left for the next is not known either.
      const word = isKnown ? tell(step, visit) : 'depends';
      isKnown &&= word !== 'depends';
      // Only of a login it is said that another address would be spared it.
      const asked =
        word === 'depends' && step.signIn === undefined ? seen.asked.filter(({ isAllowed }) => isAllowed) : seen.asked;
      return { ...told, word, asked, isSpared: seen.isSpared, asks: step.asks };
    });
    // Nobody describes the answer.
    const ofAnswers = (part.answers ?? []).flatMap(({ asks }): readonly ToldStep[] =>
      asks === undefined || !isEnabled ? [] : [{ ...told, word: 'depends', asked: [], asks, isSpared: false }],
    );
    return [...ofSteps, ...ofAnswers];
  });
}

function tryBuild(build: () => ModulePart): ModulePart | undefined {
  try {
    return build();
  } catch {
    return undefined;
  }
}

function tell(step: Step, visit: RequestVisit): ToldStep['word'] {
  try {
    const word = wordOf(step.run(visit));
    return step.asks?.byChance === true ? 'depends' : word;
  } catch (error) {
    if (error instanceof NotDescribed) return 'depends';
    throw error;
  }
}

/** A step that waits goes by something that nobody has described; so does the endpoint that one forwards to. */
function wordOf(outcome: Outcome | undefined): ToldStep['word'] {
  if (outcome === undefined) return 'passes';
  if (outcome instanceof UserError || outcome.kind === 'close') return 'refuses';
  if (outcome.kind === 'answer') return outcome.answer.status < firstOfFaults ? 'passes' : 'refuses';
  return 'depends';
}

const unknown = (): never => {
  throw new NotDescribed();
};

/** What the step that runs goes by. */
interface Seen {
  asked: readonly AskedPolicies[];
  isSpared: boolean;
  /** Authorities of which it asks for a certificate. */
  ca: string;
  /** True: it may go by the method. */
  byMethod: boolean;
}

/** A request of which no more is known than what was described. */
function describedVisit(
  { source, person, method, headers, certificate }: DescribedVisitor,
  access: Access,
  seen: Seen,
): RequestVisit {
  const record: AccessRules['allows'] = (policyIds, address) => {
    const isAllowed = access.allows(policyIds, address);
    if (policyIds.length > 0) seen.asked = [...seen.asked, { policyIds, isAllowed }];
    return isAllowed;
  };
  const services: StepServices = {
    access: { allows: record, denies: access.denies, isUnloadable: () => false },
    rates: { take: unknown },
    requests: { send: unknown },
    secrets: { get: unknown },
    notes: { add: () => {} },
    passwords: { check: (visit, refuses) => refuses(visit.headers) },
    tokens: { admit: unknown, judge: unknown },
    logins: {
      admit(_visit, { mayEnter }, isOptional) {
        if (isOptional) seen.isSpared = true;
        const verdict = person === undefined ? 'unknown' : judgeVisitor(mayEnter, person);
        if (isOptional || verdict === 'enters') return undefined;
        return verdict === 'unknown' ? unknown() : new UserError(refusedByModule, { address: formatIp(source) });
      },
      holds: unknown,
      idToken: unknown,
    },
  };
  return {
    ...blankVisit(),
    source,
    hostname: '',
    facts: unknown,
    endpoint: unknown,
    get method() {
      return method ?? (seen.byMethod ? unknown() : 'GET');
    },
    get httpVersion() {
      return unknown();
    },
    get host() {
      return unknown();
    },
    get target() {
      return unknown();
    },
    get upstreamTarget() {
      return unknown();
    },
    set upstreamTarget(_changed: string) {},
    urls: [],
    outgoing: [],
    kept: unknown,
    services,
    get isTls13() {
      return unknown();
    },
    get certificate() {
      return certificate === undefined ? unknown() : { ...certificate, ca: seen.ca, facts: [], validUntilMs: Infinity };
    },
    get headers() {
      return headers ?? unknown();
    },
    get body() {
      return unknown();
    },
  };
}
