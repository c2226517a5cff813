import { CopyButton } from '../../components/copy.tsx';
import { Panel } from '../../components/page.tsx';
import { phasesIn } from './policy-words.ts';
import { Trial } from './trial.tsx';

/** A policy as it is in force, with a trial beside it. */
export function PolicyView({ policy, url }: { readonly policy: string; readonly url: string }) {
  return (
    <Panel title="Traffic policy" note={phasesIn(policy)} action={<CopyButton text={policy} what="the policy" />}>
      <div className="cols policy">
        {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- the keyboard scrolls what is wider than its box */}
        <pre className="policy-text" tabIndex={0} aria-label="Text of the policy">
          {policy}
        </pre>
        <Trial policy={policy} isFaulty={false} url={url} />
      </div>
    </Panel>
  );
}
