import { refusedByModule } from '../errors/shared.ts';
import { UserError } from '../errors/user-error.ts';
import { formatIp } from '../lib/ip/address.ts';
import type { IpAddress } from '../lib/ip/address.ts';
import type { NamedPart } from './index.ts';
import { blankVisit, NotDescribed, servicesOfDescribed, unknown } from './not-described.ts';
import { judgeVisitor } from './sign-in.ts';
import type { SignIn, VisitorIdentity } from './sign-in.ts';
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
  /** Undefined: nobody knows who it is. Several: nobody knows which of these. */
  readonly person: VisitorIdentity | readonly VisitorIdentity[] | undefined;
  /** Whether the person has signed in there; undefined: wherever a login is asked for. */
  readonly hasSignedIn?: ((signIn: SignIn) => boolean) | undefined;
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
  /** Undefined for the answer of a backend, and for a module that cannot be built. */
  readonly phase: Step['phase'] | undefined;
  /** False: its module is switched off. */
  readonly isEnabled: boolean;
  /** `depends`: on something that is not known of the visitor. `unloadable`: its module cannot be built, so that nobody passes. */
  readonly word: 'passes' | 'refuses' | 'depends' | 'unloadable';
  readonly asked: readonly AskedPolicies[];
  readonly asks: Question | undefined;
  /** The step asks for something else where the visitor comes from another address. */
  readonly isSpared: boolean;
  /** Number of the error that refuses. */
  readonly code: number | undefined;
  /** Status of an answer in place of that of a backend. */
  readonly status: number | undefined;
  /** What would have refused if it were enforced. */
  readonly warns: readonly string[];
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
    const told = { module: name, isEnabled, phase: undefined, code: undefined, status: undefined, warns: none };
    const part = tryBuild(build);
    // A gateway cannot build it either, and closes what has it.
    if (part === undefined)
      return isEnabled ? [{ ...told, word: 'unloadable', asked: none, asks: undefined, isSpared: false }] : [];
    const seen: Seen = { asked: [], isSpared: false, ca: '', byMethod: false, warns: [] };
    const visit = describedVisit(visitor, access, seen);
    const steps = (part.steps ?? []).filter(
      ({ phase, asks }) => phase !== 'admitted' && phase !== 'forward' && (isEnabled || asks === undefined),
    );
    let isKnown = true;
    const ofSteps = steps.map((step): ToldStep => {
      const byMethod = step.asks?.byMethod === true;
      Object.assign(seen, { asked: [], isSpared: false, ca: step.clientCa ?? '', byMethod, warns: [] });
      // What one of its steps has left for the next is not known either.
      const { word, code, status } = isKnown ? tell(step, visit) : unclear;
      isKnown &&= word !== 'depends';
      // Only of a login it is said that another address would be spared it.
      const asked =
        word === 'depends' && step.signIn === undefined ? seen.asked.filter(({ isAllowed }) => isAllowed) : seen.asked;
      const { isSpared, warns } = seen;
      return { ...told, phase: step.phase, word, code, status, asked, isSpared, warns, asks: step.asks };
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

type Word = Pick<ToldStep, 'word' | 'code' | 'status'>;

const none: readonly never[] = [];
const unclear: Word = { word: 'depends', code: undefined, status: undefined };

function tell(step: Step, visit: RequestVisit): Word {
  try {
    const word = wordOf(step.run(visit));
    return step.asks?.byChance === true ? unclear : word;
  } catch (error) {
    if (error instanceof NotDescribed) return unclear;
    throw error;
  }
}

/** A step that waits goes by something that nobody has described; so does the endpoint that one forwards to. */
function wordOf(outcome: Outcome | undefined): Word {
  const [code, status] = [undefined, undefined];
  if (outcome === undefined) return { word: 'passes', code, status };
  if (outcome instanceof UserError) return { word: 'refuses', code: outcome.code, status };
  if (outcome.kind === 'close') return { word: 'refuses', code: outcome.refusal.code, status };
  if (outcome.kind !== 'answer') return unclear;
  const { status: given } = outcome.answer;
  return { word: given < firstOfFaults ? 'passes' : 'refuses', code, status: given };
}

/** `unknown` also where they do not have the same verdict. */
function judgeOneOf(persons: readonly VisitorIdentity[], { mayEnter }: SignIn): ReturnType<typeof judgeVisitor> {
  const verdicts = new Set(persons.map((person) => judgeVisitor(mayEnter, person)));
  const [verdict = 'unknown'] = verdicts;
  return verdicts.size === 1 ? verdict : 'unknown';
}

const unsaid = unknown();

/** What the step that runs goes by. */
interface Seen {
  asked: readonly AskedPolicies[];
  isSpared: boolean;
  /** Authorities of which it asks for a certificate. */
  ca: string;
  /** True: it may go by the method. */
  byMethod: boolean;
  warns: string[];
}

/** A request of which no more is known than what was described. */
function describedVisit(
  { source, person, hasSignedIn, method, headers, certificate }: DescribedVisitor,
  access: Access,
  seen: Seen,
): RequestVisit {
  const record: AccessRules['allows'] = (policyIds, address) => {
    const isAllowed = access.allows(policyIds, address);
    if (policyIds.length > 0) seen.asked = [...seen.asked, { policyIds, isAllowed }];
    return isAllowed;
  };
  const services: StepServices = {
    ...servicesOfDescribed({ allows: record, denies: (policyIds, address) => access.denies(policyIds, address) }),
    logins: {
      admit(_visit, signIn, isOptional) {
        if (isOptional) seen.isSpared = true;
        const isIn = hasSignedIn?.(signIn) ?? true;
        const verdict = person === undefined || !isIn ? 'unknown' : judgeOneOf([person].flat(), signIn);
        if (isOptional || verdict === 'enters') return undefined;
        return verdict === 'unknown' ? unsaid() : new UserError(refusedByModule, { address: formatIp(source) });
      },
      holds: unsaid,
      idToken: unsaid,
    },
  };
  return {
    ...blankVisit(),
    warn: (by) => void seen.warns.push(by),
    source,
    hostname: '',
    facts: unsaid,
    endpoint: unsaid,
    get method() {
      return method ?? (seen.byMethod ? unsaid() : 'GET');
    },
    get httpVersion() {
      return unsaid();
    },
    get host() {
      return unsaid();
    },
    get target() {
      return unsaid();
    },
    get upstreamTarget() {
      return unsaid();
    },
    set upstreamTarget(_changed: string) {},
    urls: [],
    outgoing: [],
    kept: unsaid,
    services,
    get isTls13() {
      return unsaid();
    },
    get certificate() {
      return certificate === undefined ? unsaid() : { ...certificate, ca: seen.ca, facts: [], validUntilMs: Infinity };
    },
    get headers() {
      return headers ?? unsaid();
    },
    get body() {
      return unsaid();
    },
  };
}
