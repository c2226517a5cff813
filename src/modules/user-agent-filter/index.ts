import { Type } from 'typebox';
import type { Static } from 'typebox';

import { userAgentRefused } from '../../errors/shared.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { headerValues } from '../../lib/header-list.ts';
import { Matcher } from '../../lib/regex/matcher.ts';
import { PatternFault } from '../../lib/regex/tree.ts';
import { moduleInput, moduleView } from '../module.ts';
import type { EdgeModule } from '../module.ts';
import type { HeaderList, RequestStep, RequestVisit } from '../step.ts';
import * as errors from './errors.ts';

const patterns = (description: string, example: string) =>
  Type.Array(Type.String({ maxLength: 512 }), { description, examples: [[example]], maxItems: 64 });
const allowPatterns = patterns(
  'Regular expressions. One of them must match; if there are none, every user agent may pass.',
  '^Mozilla/',
);
const denyPatterns = patterns(
  'Regular expressions. If one of them matches, the request is refused.',
  '(?i)bot|crawler',
);

const Input = moduleInput(
  'UserAgentFilter',
  { allow: Type.Optional(allowPatterns), deny: Type.Optional(denyPatterns) },
  'Refuses requests by their header `User-Agent` with 403. A pattern may match anywhere in it; `(?i)` at its start ignores ' +
    'case. Patterns are in the syntax of RE2, which has nothing that could take long.',
);

const View = moduleView('UserAgentFilter', { allow: allowPatterns, deny: denyPatterns });

interface UserAgentFilterSettings {
  readonly enabled: boolean;
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

/** Longest header that is matched; a longer one is refused. */
const longestAgent = 1024;
/** Steps that all patterns may take for one request, which is refused if they need more: some milliseconds at worst. */
export const mostSteps = 50_000;

/** Refuses requests by `User-Agent`: no pattern of `deny` may match it, and one of `allow` must, where there are any. */
export const userAgentFilter: EdgeModule<Static<typeof Input>, UserAgentFilterSettings> = {
  name: 'user_agent_filter',
  title: 'User Agent Filter',
  targets: ['https_route', 'agent_endpoint'],
  input: Input,
  view: View,
  errors: Object.values(errors),
  accept({ enabled = true, allow = [], deny = [] }) {
    compile({ allow, deny });
    return { enabled, allow, deny };
  },
  present: (settings) => settings,
  build(settings) {
    const { allowed, denied } = compile(settings);
    const admits = (agent: string): boolean => {
      const budget = { left: mostSteps };
      const isAdmitted = !denied.matches(agent, budget) && (allowed.size === 0 || allowed.matches(agent, budget));
      return isAdmitted && budget.left > 0;
    };
    const isRefused = (headers: HeaderList): boolean => {
      // Of several, a program behind the gateway may read another one than was matched.
      const [agent = '', ...more] = headerValues(headers, 'user-agent');
      return more.length > 0 || agent.length > longestAgent || !admits(agent);
    };
    // Upgraded connections are checked again at each change of any rule.
    const verdicts = new WeakMap<HeaderList, boolean>();
    const verdictOf = ({ headers }: RequestVisit): boolean => {
      const verdict = verdicts.get(headers) ?? isRefused(headers);
      verdicts.set(headers, verdict);
      return verdict;
    };
    const step: RequestStep = {
      phase: 'request',
      reads: ['user-agent'],
      asks: { by: 'the User-Agent header' },
      run: (visit) => (verdictOf(visit) ? new UserError(userAgentRefused) : undefined),
      holds: (visit) => (verdictOf(visit) ? 0 : Infinity),
    };
    return { steps: [step] };
  },
};

function compile({ allow, deny }: Omit<UserAgentFilterSettings, 'enabled'>) {
  const allowed = new Matcher(allow, 0, faultOf);
  return { allowed, denied: new Matcher(deny, allowed.size, faultOf) };
}

function faultOf(pattern: string, error: unknown): unknown {
  if (!(error instanceof PatternFault)) return error;
  return new UserError(errors.unsafePattern, { pattern: quote(pattern), reason: error.message });
}
