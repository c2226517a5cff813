import { useEffect, useState } from 'react';
import type { ReactNode } from 'react';

import { ApiError } from '../../../client/src/index.ts';
import type { CallError } from '../api/client.ts';
import { useLost } from '../api/connection.ts';
import { Button } from './button.tsx';
import { Id } from './copy.tsx';
import { Icon } from './icon.tsx';
import type { IconName } from './icon.tsx';
import { Glyph } from './verdict.tsx';

/** Nothing is there yet: what this is for, and the one button. */
export function Empty({
  icon,
  title,
  children,
  action,
  isPage = false,
}: {
  readonly icon: IconName;
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
  /** True if it stands in place of a whole page: its title is the heading of the page. */
  readonly isPage?: boolean;
}) {
  return (
    <div className="empty">
      <Icon name={icon} />
      {isPage ? <h1>{title}</h1> : <b>{title}</b>}
      {children === undefined ? null : <p>{children}</p>}
      {action}
    </div>
  );
}

/** A call that was refused gets the same answer again. */
const isWorthRepeating = (error: CallError): boolean =>
  !(error instanceof ApiError) || error.status >= 500 || error.status === 429;

/** Says what failed, in the panel that it failed in. Tries again by itself, with a countdown. */
export function ErrorState({
  title,
  error,
  onRetry,
  isPage = false,
}: {
  readonly title: string;
  readonly error: CallError;
  readonly onRetry: () => void;
  /** True if it stands in place of a whole page: its title is the heading of the page. */
  readonly isPage?: boolean;
}) {
  // The page says by itself that the server is lost, and all is read again when it is back.
  const lost = useLost();
  const isTried = isWorthRepeating(error) && lost === undefined;
  const { seconds } = useCountdown(isTried, onRetry);
  return (
    <div className="empty" role="alert">
      <Glyph tone="deny" />
      {isPage ? <h1>{title}</h1> : <b>{title}</b>}
      <p>
        {error.message} {seconds === undefined ? null : `Trying again in ${seconds} s.`}
      </p>
      <ErrorFacts error={error} />
      <Button small onClick={onRetry}>
        Try again now
      </Button>
    </div>
  );
}

/** Seconds before each attempt; the last one for all that follow. */
const pausesSeconds = [1, 2, 5, 10, 15] as const;

/** Acts again and again while it is on, at growing distances. Returns the seconds until the next time, and which it will be. */
export function useCountdown(
  isOn: boolean,
  act: () => void,
): { readonly seconds: number | undefined; readonly attempt: number } {
  const [attempt, setAttempt] = useState(1);
  const [left, setLeft] = useState<number>(pausesSeconds[0]);
  useEffect(() => {
    if (!isOn) return undefined;
    const timer = setTimeout(() => {
      if (left > 1) {
        setLeft(left - 1);
        return;
      }
      act();
      setAttempt(attempt + 1);
      setLeft(pausesSeconds[attempt] ?? pausesSeconds[4]);
    }, 1000);
    return () => clearTimeout(timer);
  }, [isOn, left, attempt, act]);
  return { seconds: isOn ? left : undefined, attempt };
}

/** Code and operation id, by which the log of the server is found. */
export function ErrorFacts({ error }: { readonly error: CallError }) {
  if (!(error instanceof ApiError) || error.code === '') return null;
  return (
    <span className="row wrap">
      <code className="muted">{error.code}</code>
      {error.operationId === '' ? null : <Id id={error.operationId} muted />}
    </span>
  );
}

const loadingDelayMs = 150;

/** true after 150 ms: what is quick shows no skeleton. */
export function useIsSlow(): boolean {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), loadingDelayMs);
    return () => clearTimeout(timer);
  }, []);
  return isSlow;
}

/** Grey bars where text will stand. */
export function Skeleton({ lines = 3 }: { readonly lines?: number }) {
  const isSlow = useIsSlow();
  return (
    <div className="stack tight" aria-busy="true">
      <span className="vh">Loading</span>
      {isSlow
        ? Array.from({ length: lines }, (_, line) => (
            <span key={line} className="skel" style={{ width: `${88 - ((line * 17) % 40)}%` }} />
          ))
        : null}
    </div>
  );
}
