import type { IpRestriction } from '../../../../client/src/index.ts';
import { Button } from '../../components/button.tsx';
import { ErrorState, Skeleton } from '../../components/states.tsx';
import { VerdictBox } from '../../components/verdict.tsx';
import { formatNumber } from '../../lib/text.ts';
import { formatTime } from '../../lib/time.ts';
import { addressesOf, callsOf } from './restriction-words.ts';
import type { Standing, useStanding } from './standing.ts';
import { YouStay } from './you-stay.tsx';

/** The question of the page, answered: verdict, reason, proof. */
export function SafeToEnforce({
  restriction,
  read: { standing, error, retry },
  mayWrite,
  onEnforce,
  onDecide,
}: {
  readonly restriction: IpRestriction;
  readonly read: ReturnType<typeof useStanding>;
  readonly mayWrite: boolean;
  readonly onEnforce: () => void;
  readonly onDecide: () => void;
}) {
  if (standing === undefined) {
    return (
      <section className="panel">
        {error === undefined ? (
          <div className="pad">
            <Skeleton lines={4} />
          </div>
        ) : (
          <ErrorState title="The warnings could not be read" error={error} onRetry={retry} />
        )}
      </section>
    );
  }
  const open = standing.undecided.length;
  const { tone, title, reason } = answerOf(standing, restriction);
  return (
    <VerdictBox
      tone={tone}
      title={title}
      reason={reason}
      actions={
        mayWrite ? (
          <>
            {open === 0 ? null : (
              <Button look="primary" onClick={onDecide}>
                Decide on {addressesOf(open)}
              </Button>
            )}
            <Button {...(open === 0 ? { look: 'primary' as const } : {})} onClick={onEnforce}>
              Enforce…
            </Button>
          </>
        ) : undefined
      }
    >
      <Windows standing={standing} type={restriction.type} />
      <footer>
        <YouStay restriction={restriction} />
      </footer>
    </VerdictBox>
  );
}

function answerOf(
  standing: Standing,
  { type }: IpRestriction,
): { readonly tone: 'allow' | 'warn' | 'off'; readonly title: string; readonly reason: string } {
  const { undecided, refusedOnPurpose, sources, isTooEarly, askAgainAt, windows } = standing;
  const onPurpose =
    refusedOnPurpose.length === 0
      ? ''
      : ` ${addressesOf(refusedOnPurpose.length)} ${refusedOnPurpose.length === 1 ? 'is' : 'are'} refused on purpose and ${refusedOnPurpose.length === 1 ? 'does' : 'do'} not count.`;
  if (isTooEarly) {
    const since = formatTime(standing.since).replace(/ ago$/, '');
    const seen =
      sources.length === 0
        ? 'It has given no warning so far.'
        : `${callsOf(windows.week.total_warned, type)} from ${addressesOf(sources.length)} so far, ${undecided.length === 0 ? 'none' : formatNumber(undecided.length)} of them undecided.`;
    return {
      tone: 'off',
      title: `Safe to enforce? Too early to say: it has warned for ${since === 'just now' ? 'a moment' : since}`,
      reason: `${seen}${onPurpose} A full day shows nightly jobs too; ask again ${formatTime(askAgainAt)}.`,
    };
  }
  if (undecided.length > 0) {
    return {
      tone: 'warn',
      title: `Safe to enforce? Not yet: ${addressesOf(undecided.length)} ${undecided.length === 1 ? 'needs' : 'need'} a decision`,
      reason: `${undecided.length === 1 ? 'It' : 'Each'} would be refused from the moment you enforce. Let it in, or say that you mean it.${onPurpose}`,
    };
  }
  return {
    tone: 'allow',
    title: 'Safe to enforce: nobody unexpected would be refused',
    reason:
      sources.length === 0
        ? 'It has given no warning in 7 days.'
        : `In 7 days it has warned of ${addressesOf(sources.length)}; every one is decided.${onPurpose}`,
  };
}

function Windows({ standing, type }: { readonly standing: Standing; readonly type: IpRestriction['type'] }) {
  const { hour, day, week } = standing.windows;
  const shown = [
    ['Last hour', hour],
    ['Last day', day],
    ['Last 7 days', week],
  ] as const;
  return (
    <div className="stats three">
      {shown.map(([name, { total_sources: sources, total_warned: count }]) => (
        <div key={name}>
          <span className="l">{name}</span>
          <span className="n">
            {formatNumber(sources)}
            <small> {sources === 1 ? 'address' : 'addresses'}</small>
          </span>
          <span className="l">{callsOf(count, type)}</span>
        </div>
      ))}
    </div>
  );
}
