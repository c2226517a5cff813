import type { ReactNode } from 'react';

import { useLost } from '../api/connection.ts';
import { formatClock } from '../lib/time.ts';

/** How something stands to traffic: let in, refused, let in with a warning, asked for more, not restricted. */
export type Tone = 'allow' | 'deny' | 'warn' | 'ask' | 'off';

/** Five shapes, told apart without colour. `label` is read out where no word stands beside it. */
export function Glyph({ tone: given, label }: { readonly tone: Tone; readonly label?: string }) {
  const tone = useTone(given);
  return (
    <>
      <svg className={`glyph g-${tone}`} viewBox="0 0 14 14" aria-hidden="true">
        {shapes[tone]}
      </svg>
      {label === undefined ? null : <span className="vh">{label}</span>}
    </>
  );
}

const shapes: Readonly<Record<Tone, ReactNode>> = {
  allow: (
    <>
      <circle cx="7" cy="7" r="6.5" fill="currentColor" />
      <path
        d="m4 7.2 2.1 2.1L10 5.2"
        fill="none"
        stroke="var(--on-fill)"
        strokeWidth="1.7"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </>
  ),
  deny: (
    <>
      <path d="M4.4.5h5.2l3.9 3.9v5.2l-3.9 3.9H4.4L.5 9.6V4.4z" fill="currentColor" />
      <path d="M4 7h6" stroke="var(--on-fill)" strokeWidth="2" strokeLinecap="round" />
    </>
  ),
  warn: (
    <>
      <path
        d="M7 .8c.5 0 .9.3 1.1.7l5.4 10a1.2 1.2 0 0 1-1.1 1.8H1.6a1.2 1.2 0 0 1-1.1-1.8l5.4-10C6.1 1.1 6.5.8 7 .8z"
        fill="currentColor"
      />
      <path d="M7 5v3.3M7 10.7h.01" stroke="var(--on-fill)" strokeWidth="1.6" strokeLinecap="round" />
    </>
  ),
  ask: (
    <>
      <path d="M7 .6 13.4 7 7 13.4.6 7z" fill="currentColor" strokeLinejoin="round" />
      <path d="M7 6.6v2.6" stroke="var(--on-fill)" strokeWidth="1.6" strokeLinecap="round" />
      <circle cx="7" cy="5.2" r="1.5" fill="var(--on-fill)" />
    </>
  ),
  off: <circle cx="7" cy="7" r="5.5" fill="none" stroke="currentColor" strokeWidth="1.6" strokeDasharray="2.6 1.72" />,
};

/** A verdict that was good when the server last answered: nobody knows whether it still is. */
function useTone(tone: Tone): Tone {
  const lost = useLost();
  return lost !== undefined && tone === 'allow' ? 'off' : tone;
}

/** A verdict with its glyph: "Let in", "Refused", "Let in, warned", "Asked to sign in", "Not restricted". */
export function Verdict({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) {
  return (
    <span className={`v ${useTone(tone)}`}>
      <Glyph tone={tone} />
      {children}
    </span>
  );
}

/** A short state beside a title or in a row. Without a tone it is grey; `plain` has no ground. */
export function Badge({ tone: given, children }: { readonly tone?: Tone | 'plain'; readonly children: ReactNode }) {
  const known = useTone(given === undefined || given === 'plain' ? 'off' : given);
  const tone = given === 'plain' ? given : known;
  const isVerdict = tone === 'allow' || tone === 'deny' || tone === 'warn';
  return (
    <span className={`badge ${tone === undefined || tone === 'off' ? '' : tone}`}>
      {isVerdict ? <Glyph tone={tone} /> : null}
      {children}
    </span>
  );
}

/** The box that answers a page's question: the verdict, then the reason, then the proof. */
export function VerdictBox({
  tone: given,
  title,
  reason,
  actions,
  children,
}: {
  readonly tone: Tone;
  readonly title: string;
  readonly reason?: ReactNode;
  readonly actions?: ReactNode;
  readonly children?: ReactNode;
}) {
  const lost = useLost();
  const tone = useTone(given);
  return (
    <section className={`verdict ${tone === 'off' ? '' : tone}`}>
      <header>
        <Glyph tone={tone} />
        <div>
          <h2>
            {lost === undefined ? '' : `At ${formatClock(lost.lastAnswerMs)}: `}
            {title}
          </h2>
          {reason === undefined ? null : <p>{reason}</p>}
        </div>
        {actions === undefined ? null : <div className="actions">{actions}</div>}
      </header>
      {children}
    </section>
  );
}
