import type { ReactNode } from 'react';
import { useLocation } from 'wouter';

import type { ConfigurationReturned } from '../../../../client/src/index.ts';
import { demanding, useAction } from '../../api/action.ts';
import { client } from '../../api/client.ts';
import { useRead } from '../../api/queries.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { isLockout, LockoutBanner, Problem } from '../../components/problem.tsx';
import { Skeleton } from '../../components/states.tsx';
import { toast } from '../../components/toast.tsx';
import { Glyph } from '../../components/verdict.tsx';
import type { Tone } from '../../components/verdict.tsx';
import { countOf, formatNumber } from '../../lib/text.ts';
import { kindOf } from './kinds.ts';
import type { Past } from './past.ts';
import { momentWords, shortWords } from './words.ts';

/** Things that are named one by one; others are counted. */
const mostNamed = 5;

/** Shows what a return to the moment does, as the server has rehearsed it, then makes exactly that. */
export function ReturnDialog({ past, onClose }: { readonly past: Past; readonly onClose: () => void }) {
  const { at, moment } = past;
  const [, navigate] = useLocation();
  const planned = useRead(['return', at], (signal) =>
    client.reply('ConfigurationReturn', { body: { at }, query: { dry_run: 'true' }, signal }),
  );
  const { run, isPending, error: failure } = useAction();
  const words = momentWords(at, moment);
  const goBack = async (options: { allowLockout?: boolean } = {}): Promise<void> => {
    const call = () =>
      client.call('ConfigurationReturn', { body: { at }, ...demanding(planned.data?.etag), ...options });
    if (!(await run(call))) return;
    toast(`Returned to ${words}.`);
    navigate('/changes?at=');
  };
  const error = failure ?? planned.error;
  // The plan from before stays where a new one fails.
  const plan = planned.error === undefined ? planned.data?.document : undefined;
  const isSame = plan?.steps.length === 0;
  return (
    <Dialog
      title={`Return to ${words}?`}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose} startsFocused>
            Keep now
          </Button>
          <Button look="danger" disabled={plan === undefined || isSame || isPending} onClick={() => void goBack()}>
            Return to {shortWords(at, moment)}
          </Button>
        </>
      }
    >
      {planned.isLoading ? <Skeleton /> : null}
      {plan === undefined ? null : <Effect plan={plan} version={moment.version} />}
      {error !== undefined && isLockout(error) ? (
        <LockoutBanner error={error} onOverride={() => void goBack({ allowLockout: true })} />
      ) : (
        <Problem error={error} />
      )}
    </Dialog>
  );
}

function Effect({ plan, version }: { readonly plan: ConfigurationReturned; readonly version: number }) {
  const { steps, created, changed, deleted } = plan;
  if (steps.length === 0)
    return (
      <p>
        Nothing differs: the configuration is what it was then. Keys, users, sessions and certificates stay as they are.
      </p>
    );
  const parts = [
    changed === 0
      ? []
      : `sets ${countOf(changed, 'thing', 'things')} back to what they were in version ${formatNumber(version)}`,
    created === 0 ? [] : `makes ${formatNumber(created)} anew that ${created === 1 ? 'is' : 'are'} gone`,
    deleted === 0 ? [] : `deletes ${formatNumber(deleted)} that did not exist`,
  ].flat();
  const gone = steps.filter(({ action }) => action === 'delete');
  const secrets = steps.filter(({ fields }) => fields.some(({ after }) => hasSecret(after)));
  return (
    <>
      <p>One new change {parts.join(', and ')}. It happens whole or not at all.</p>
      <ul className="rules">
        <Newcomers plan={plan} />
        {gone.slice(0, mostNamed).map(({ kind, name }) => (
          <Line key={`${kind} ${name}`} tone="deny">
            {kindOf(kind).noun} {name} goes away
          </Line>
        ))}
        {gone.length > mostNamed ? <Line tone="deny">{formatNumber(gone.length - mostNamed)} more go away</Line> : null}
        {secrets.length === 0 ? null : (
          <Line tone="warn">
            Earlier passwords and client secrets come back at{' '}
            {secrets
              .map(({ name }) => name)
              .slice(0, mostNamed)
              .join(', ')}
            {secrets.length > mostNamed ? ` and ${formatNumber(secrets.length - mostNamed)} more` : ''}
          </Line>
        )}
        <Line tone="allow">You stay in</Line>
        <Line tone="off">Not set back: keys, users, sessions, certificates, values in vaults</Line>
      </ul>
    </>
  );
}

/** Says who would come in that is refused now, as the server has proved it. */
function Newcomers({ plan: { admits_new: admits } }: { readonly plan: ConfigurationReturned }) {
  if (admits === undefined) return null;
  if (admits.answer === 'no') return <Line tone="allow">Nobody is let in who is refused now</Line>;
  const { admissions, total } = admits;
  return (
    <>
      {admissions.slice(0, mostNamed).map(({ to, answer, text }) => (
        <Line key={`${to} ${text}`} tone={answer === 'yes' ? 'warn' : 'off'}>
          {to}: {text}
        </Line>
      ))}
      {total > mostNamed ? (
        <Line tone="warn">{formatNumber(total - mostNamed)} more places may let in somebody new</Line>
      ) : null}
    </>
  );
}

function Line({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) {
  return (
    <li>
      <Glyph tone={tone} />
      <span className="grow">{children}</span>
    </li>
  );
}

/** The text that the server shows in place of a secret. */
const secretWord = '(secret)';

function hasSecret(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value === secretWord;
  return Object.values(value).some(hasSecret);
}
