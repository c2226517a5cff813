import { useMemo, useState } from 'react';

import type { IpPolicy } from '../../../../client/src/index.ts';
import { useChange } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { Banner } from '../../components/banner.tsx';
import { Button, ButtonGroup } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { isLockout, LockoutBanner, Problem } from '../../components/problem.tsx';
import { toast } from '../../components/toast.tsx';
import { rangeOfAddress } from '../../lib/address.ts';
import { byteLength, formatBytes } from '../../lib/bytes.ts';
import { countOf, formatNumber, nameOf } from '../../lib/text.ts';
import { callOf, rehearse } from '../../parts/rehearsal/rehearse.ts';
import { policyWith } from '../../parts/rehearsal/rehearse-entries.ts';
import type { WantedRule } from '../../parts/rehearsal/rehearse-entries.ts';
import { isStale, useRehearsal } from '../../parts/rehearsal/use-rehearsal.tsx';
import { ListInput } from './list-input.tsx';
import { Preview } from './preview.tsx';
import type { Comparison, Mode } from './rule-list.ts';
import { useComparison } from './use-comparison.ts';
import type { Rule, Rules } from './use-rules.ts';

/** Paste or drop a list, see what it changes, send it as one call. */
export function PasteList({
  policy,
  rules,
  onClose,
}: {
  readonly policy: IpPolicy;
  readonly rules: Rules;
  readonly onClose: () => void;
}) {
  const [text, setText] = useState('');
  const [mode, setMode] = useState<Mode>('add');
  const [goTo, setGoTo] = useState<{ readonly line: number }>();
  const { address } = useSession();
  const { comparison, isCurrent } = useComparison(rules.rules, text, mode);
  const change = useChange('IpPolicyRulesReplace');
  const bytes = useMemo(() => byteLength(text), [text]);

  const send = async (body: string, options: { allowLockout?: boolean } = {}): Promise<void> => {
    const demanded = rules.etag === undefined ? {} : { ifMatch: rules.etag };
    const reply = await change.run({ path: { id: policy.id }, body, ...demanded, ...options });
    if (reply === undefined) return;
    const { added, removed, kept } = reply.document;
    toast(`${formatNumber(added)} added, ${formatNumber(removed)} removed, ${formatNumber(kept)} kept. In force now.`);
    onClose();
  };
  const settle = (changes: readonly { readonly line: number; readonly text: string | undefined }[]): void => {
    const lines = text.split('\n');
    for (const { line, text: next } of changes) lines[line - 1] = next ?? `# left out: ${lines[line - 1] ?? ''}`;
    setText(lines.join('\n'));
  };
  const readAgain = async (): Promise<void> => {
    await rules.reread();
    rehearsal.close();
    change.reset();
  };
  const mine = rangeOfAddress(address);
  const allow =
    mine === undefined
      ? undefined
      : () => {
          rehearsal.close();
          void send(`${comparison?.body ?? ''}\n${mine}`);
        };
  const rehearsal = useRehearsal({
    subject: `${mode}\n${text}`,
    what: 'Your list',
    rehearse: (signal) => {
      const body = comparison?.body ?? '';
      const call = callOf('IpPolicyRulesReplace', { path: { id: policy.id }, body });
      return rehearse({ ...call, body: body.split('\n').filter((line) => line !== '') }, signal, [
        policyWith(policy, rulesIn(body, rules.rules)),
      ]);
    },
    save: (options) => void send(comparison?.body ?? '', options),
    isSaving: change.isPending,
    error: change.error,
    allow,
  });

  return (
    <Dialog
      large
      title={`Paste a list into “${nameOf(policy)}”`}
      onClose={onClose}
      beside={rehearsal.sheet}
      footer={
        <>
          <span className="grow">One call, all or nothing: traffic never sees half a list.</span>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="primary"
            missing={missing(text, comparison, isCurrent, rules.isComplete)}
            disabled={change.isPending}
            onClick={rehearsal.open}
          >
            {actWords(comparison)}…
          </Button>
        </>
      }
    >
      <div className="bar">
        <ButtonGroup
          label="What to do with the list"
          value={mode}
          options={[
            ['add', 'Add to the rules'],
            ['replace', 'Replace all rules'],
          ]}
          onChange={setMode}
        />
        <span className="muted">
          One CIDR a line. <code>!</code> before it means deny, <code>#</code> starts a comment. Or drop a file.
        </span>
      </div>
      <div className="cols">
        <div className="stack tight start">
          <div className="row">
            <span className="label grow">Your list</span>
            <span className="muted">
              {text === '' ? '' : `${countOf(comparison?.lines ?? 0, 'line', 'lines')}, ${formatBytes(bytes)}`}
            </span>
          </div>
          <ListInput text={text} onChange={setText} invalid={comparison?.invalid.first ?? []} goTo={goTo} />
        </div>
        {comparison === undefined || text.trim() === '' ? (
          <p className="muted">What the list adds, removes and keeps is shown here before anything changes.</p>
        ) : (
          <Preview comparison={comparison} onSettle={settle} onGoTo={(line) => setGoTo({ line })} />
        )}
      </div>
      {(comparison?.repeated ?? 0) > 0 ? (
        <p className="muted fine">
          {countOf(comparison?.repeated ?? 0, 'line repeats', 'lines repeat')} an earlier one and is taken once.
        </p>
      ) : null}
      {isStale(change.error) ? (
        <Banner
          tone="warn"
          note="Your list is kept and not sent. Read the rules again to see what it changes now."
          actions={
            <Button small onClick={() => void readAgain()}>
              Read the rules again
            </Button>
          }
        >
          Somebody else changed these rules in the meantime.
        </Banner>
      ) : change.error !== undefined && isLockout(change.error) ? (
        <LockoutBanner
          error={change.error}
          onAllow={mine === undefined ? undefined : () => void send(`${comparison?.body ?? ''}\n${mine}`)}
          onOverride={() => void send(comparison?.body ?? '', { allowLockout: true })}
        />
      ) : (
        <Problem error={change.error} />
      )}
    </Dialog>
  );
}

/** The rules of a list as it is sent, with the descriptions that they have already. */
function rulesIn(body: string, before: readonly Rule[]): readonly WantedRule[] {
  const described = new Map(before.map(({ cidr, description }) => [cidr, description]));
  return body
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => {
      const cidr = line.replace(/^!/, '');
      return { cidr, action: line === cidr ? 'allow' : 'deny', description: described.get(cidr) };
    });
}

/** Says what is missing until the list can be sent, in words for the button. */
function missing(
  text: string,
  comparison: Comparison | undefined,
  isCurrent: boolean,
  isComplete: boolean,
): string | undefined {
  if (text.trim() === '') return 'Paste a list to go on';
  if (!isComplete) return 'Reading the rules…';
  if (comparison === undefined || !isCurrent) return 'Comparing…';
  if (comparison.invalid.count > 0) return `Settle ${countOf(comparison.invalid.count, 'line', 'lines')} to go on`;
  return comparison.added.count + comparison.removed.count === 0 ? 'Nothing changes' : undefined;
}

function actWords(comparison: Comparison | undefined): string {
  if (comparison === undefined) return 'Change the rules';
  const { added, removed } = comparison;
  const parts = [
    added.count === 0 ? '' : `Add ${formatNumber(added.count)}`,
    removed.count === 0 ? '' : `remove ${formatNumber(removed.count)}`,
  ].filter((part) => part !== '');
  const words = parts.join(', ');
  return words === '' ? 'Change the rules' : `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}
