import { useLost, noteNoAnswer } from '../api/connection.ts';
import type { Lost } from '../api/connection.ts';
import { formatSeconds } from '../lib/time.ts';
import { Banner } from './banner.tsx';
import { Button } from './button.tsx';
import { useCountdown } from './states.tsx';

/** Says on every page that the server does not answer, since when, and of when what is shown is. */
export function LostBanner() {
  const lost = useLost();
  return lost === undefined ? null : <Told lost={lost} />;
}

const ordinals: Readonly<Record<number, string>> = { 1: '1st', 2: '2nd', 3: '3rd' };

function tryAgain(): void {
  void noteNoAnswer();
}

function Told({ lost: { sinceMs, lastAnswerMs } }: { readonly lost: Lost }) {
  const { seconds, attempt } = useCountdown(true, tryAgain);
  return (
    <Banner
      tone="deny"
      note={`What is shown is as of ${formatSeconds(lastAnswerMs)}. Trying again in ${seconds} s, the ${ordinals[attempt] ?? `${attempt}th`} time.`}
      actions={
        <Button small onClick={tryAgain}>
          Try now
        </Button>
      }
    >
      The server has not answered since {formatSeconds(sinceMs)}
    </Banner>
  );
}
