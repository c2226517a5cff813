import type { Change, RevertedChange } from '../../../../client/src/index.ts';
import { useAction } from '../../api/action.ts';
import { client } from '../../api/client.ts';
import { useRead } from '../../api/queries.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Diff } from '../../components/diff.tsx';
import { Panel } from '../../components/page.tsx';
import { isLockout, LockoutBanner, Problem } from '../../components/problem.tsx';
import { Skeleton } from '../../components/states.tsx';
import { toast } from '../../components/toast.tsx';
import { callOf, rehearse } from '../../parts/rehearsal/rehearse.ts';
import { useRehearsal } from '../../parts/rehearsal/use-rehearsal.tsx';
import { kindWord, subjectOf } from './change-words.ts';
import { RevertedRules, rulesOf } from './reverted-rules.tsx';
import { useKnownNames } from './known-names.ts';

const acts = { create: 'Makes again', update: 'Sets back', delete: 'Deletes' } as const;

/** Kinds of things that decide about visitors. */
const decidingKinds: ReadonlySet<string> = new Set([
  'ip_policy',
  'ip_policy_rule',
  'ip_restriction',
  'https_edge',
  'https_edge_route',
  'tcp_edge',
  'tls_edge',
  'endpoint',
]);

/** Shows what undoing a change does, as the server has rehearsed it, before it is done. */
export function RevertDialog({
  change: { id },
  title,
  onClose,
}: {
  readonly change: Change;
  readonly title: string;
  readonly onClose: () => void;
}) {
  const planned = useRead(['revert', id], (signal) =>
    client.call('ChangesRevert', { path: { id }, query: { dry_run: 'true' }, signal }),
  );
  const known = useKnownNames();
  const { run, isPending, error: failure } = useAction();
  const revert = async (options: { allowLockout?: boolean } = {}): Promise<void> => {
    if (!(await run(() => client.call('ChangesRevert', { path: { id }, ...options })))) return;
    toast(`Reverted: ${title}.`);
    onClose();
  };
  const rehearsal = useRehearsal({
    needsVisits: true,
    subject: id,
    what: 'The revert',
    rehearse: (signal) => rehearse(callOf('ChangesRevert', { path: { id } }), signal),
    save: (options) => void revert(options),
    isSaving: isPending,
    error: failure,
  });
  const error = failure ?? planned.error;
  // The plan from before stays where a new one fails.
  const plan = planned.error === undefined ? planned.data : undefined;
  const decides = plan?.changes.some(({ kind }) => decidingKinds.has(kind)) === true;
  return (
    <Dialog
      large
      beside={rehearsal.sheet}
      title={`Revert “${title}”?`}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose} startsFocused>
            Leave it
          </Button>
          <Button
            look="primary"
            disabled={plan === undefined || isPending}
            onClick={decides ? rehearsal.open : () => void revert()}
          >
            {decides && rehearsal.shows ? 'See who would notice' : 'Revert'}
          </Button>
        </>
      }
    >
      <p>A revert is a new change and takes effect at once. It undoes everything that the same call changed.</p>
      {planned.isLoading ? <Skeleton /> : null}
      {plan?.changes.map((reverted, at) => (
        <Panel
          // oxlint-disable-next-line react/no-array-index-key -- one call may change a thing twice, and the list never changes in place
          key={`${reverted.resource_id} ${at}`}
          title={`${acts[reverted.action]}: ${kindWord(reverted.kind)} ${subjectOf(reverted, known)}`}
          flush
        >
          <Effect reverted={reverted} />
        </Panel>
      ))}
      {error !== undefined && isLockout(error) ? (
        <LockoutBanner error={error} onOverride={() => void revert({ allowLockout: true })} />
      ) : (
        <Problem error={error} />
      )}
    </Dialog>
  );
}

/** The rules of a policy in words, everything else as the fields that differ. */
function Effect({ reverted: { before, after } }: { readonly reverted: RevertedChange }) {
  const [then, now] = [rulesOf(before), rulesOf(after)];
  if (then === undefined && now === undefined) return <Diff before={before} after={after} />;
  return (
    <>
      <RevertedRules before={then} after={now} />
      {JSON.stringify(then?.rest) === JSON.stringify(now?.rest) ? null : (
        <Diff before={then?.rest ?? null} after={now?.rest ?? null} />
      )}
    </>
  );
}
