import type { Decision, DecisionExplanation, Reply } from '../../../../client/src/index.ts';
import type { Read } from '../../api/queries.ts';
import { Banner } from '../../components/banner.tsx';
import { ErrorState, Skeleton } from '../../components/states.tsx';
import { Glyph } from '../../components/verdict.tsx';
import type { Tone } from '../../components/verdict.tsx';
import { formatNumber } from '../../lib/text.ts';
import { formatExactly } from '../../lib/time.ts';
import { useEdges } from '../../parts/edge-names.ts';
import { useNames } from '../../parts/names.ts';
import { ExplainedLadder, keyOf, sentence } from './explained-ladder.tsx';
import type { Called, ExplainedCheck } from './explained-ladder.tsx';
import { EndStep, ThenLadder } from './then-ladder.tsx';

/** What a past request met, and what it would meet today, side by side. */
export function ThenNow({
  decision,
  explained,
}: {
  readonly decision: Decision;
  readonly explained: Read<Reply<DecisionExplanation>>;
}) {
  const called = { edges: useEdges(), names: useNames() };
  const told = explained.data?.document;
  const { configuration_version: version = 0 } = decision;
  return (
    <section className="panel">
      <div className="then-now">
        <div>
          <div>
            <h2>Then</h2>
            <p className="soft">
              {formatExactly(decision.at)}
              {version === 0 ? '' : ` · version ${formatNumber(version)}`}
            </p>
          </div>
          {told?.at_the_time.is_known === true ? (
            <ExplainedLadder checks={told.at_the_time.checks} called={called}>
              <EndStep decision={decision} />
            </ExplainedLadder>
          ) : (
            <>
              {told === undefined ? null : (
                <Banner note={told.at_the_time.reason}>Only what the decision itself says is shown</Banner>
              )}
              <ThenLadder decision={decision} />
            </>
          )}
        </div>
        <div>
          <div>
            <h2>The same request today</h2>
            <p className="soft">With the configuration of now</p>
          </div>
          {told !== undefined ? (
            <Today told={told} called={called} />
          ) : explained.error === undefined ? (
            <Skeleton lines={6} />
          ) : (
            <ErrorState title="The verdict of today is unknown" error={explained.error} onRetry={explained.retry} />
          )}
        </div>
      </div>
    </section>
  );
}

type End = readonly [tone: Tone, title: string];

const itDepends: End = ['off', 'It is unknown'];
const ends: Readonly<Record<string, End>> = {
  allowed: ['allow', 'It would be let in'],
  refused: ['deny', 'It would be refused'],
  not_served: ['deny', 'Nothing is there for it'],
};

function Today({
  told: { at_the_time: then, now },
  called,
}: {
  readonly told: DecisionExplanation;
  readonly called: Called;
}) {
  const [tone, title] = ends[now.verdict ?? ''] ?? itDepends;
  const gone = then.is_known ? then.checks.filter((check) => isGone(check, now.checks)) : [];
  return (
    <ExplainedLadder checks={now.checks} before={then.is_known ? then.checks : undefined} called={called}>
      {gone.length === 0 ? null : (
        <li className="skipped">
          <Glyph tone="off" />
          <div className="t">
            <b>Not met any more</b>
            <p>{gone.map((check) => wordOf(check, called)).join(', ')}</p>
          </div>
        </li>
      )}
      <li>
        <Glyph tone={tone} />
        <div className="t">
          <b>{title}</b>
          {sentence(now.reason) === `${title}.` ? null : <p>{sentence(now.reason)}</p>}
        </div>
      </li>
    </ExplainedLadder>
  );
}

function isGone(check: ExplainedCheck, now: readonly ExplainedCheck[]): boolean {
  return check.effect !== 'not_reached' && now.every((each) => keyOf(each) !== keyOf(check));
}

/** A check that has no page any more, or of which only the name is told. */
function wordOf({ kind, id, module }: ExplainedCheck, { edges, names }: Called): string {
  if (kind === 'ip_restriction') return `IP restriction “${names.restriction(id).name}”`;
  if (kind === 'module') return module ?? id;
  return kind === 'route' ? `route ${edges.routeMatch(id) ?? id}` : `edge ${edges.nameOf(id, id)}`;
}

/** Today in a few words, to go on after what was decided then. */
export function todayWords({ is_unchanged: isUnchanged, now: { verdict } }: DecisionExplanation): string {
  if (isUnchanged) return 'Today the same would happen';
  switch (verdict) {
    case 'allowed':
      return 'Today it would be let in';
    case 'refused':
      return 'Today it would be refused';
    case 'not_served':
      return 'Today nothing is there for it';
    default:
      return 'Today it depends on what is not kept';
  }
}
