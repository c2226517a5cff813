import { useRef, useState } from 'react';

import type { TrafficPolicyCheckVerdict } from '../../../../client/src/index.ts';
import { useOne } from '../../api/queries.ts';
import { useDebounced } from '../../lib/debounced.ts';
import { Fault, faultOf } from './fault.tsx';
import { PolicyEditor, selectSpan } from './policy-editor.tsx';
import { Trial } from './trial.tsx';
import { trueLines } from './true-lines.ts';

/** A policy that is written: its text with its faults in place, and a trial beside it. */
export function PolicyField({
  policy,
  onChange,
  error,
  url,
}: {
  readonly policy: string;
  readonly onChange: (policy: string) => void;
  /** The server's words at the last attempt to save it. */
  readonly error: string | undefined;
  /** The visit that the trial begins with. */
  readonly url: string;
}) {
  const wrapper = useRef<HTMLDivElement>(null);
  const [verdict, setVerdict] = useState<TrafficPolicyCheckVerdict>();
  const settled = useDebounced(policy);
  const { error: refusal } = useOne(
    'TrafficPolicyCheck',
    { body: { policy: settled } },
    { enabled: settled.trim() !== '' },
  );
  const message = error ?? (settled.trim() === '' ? undefined : refusal?.message);
  const fault = message === undefined ? undefined : faultOf(message, settled);
  // A mark is where the text was when it was checked.
  const isCurrent = settled === policy;
  const show = (): void => {
    const area = wrapper.current?.querySelector('textarea');
    if (area !== null && area !== undefined && fault?.span !== undefined) selectSpan(area, fault.span);
  };
  return (
    <div className="cols policy" ref={wrapper}>
      <PolicyEditor
        policy={policy}
        onChange={onChange}
        fault={isCurrent ? fault?.span : undefined}
        trueLines={isCurrent && fault === undefined && verdict !== undefined ? trueLines(policy, verdict) : []}
        error={fault === undefined ? undefined : <Fault fault={fault} onShow={show} />}
      />
      <Trial policy={settled} isFaulty={fault !== undefined} url={url} onVerdict={setVerdict} />
    </div>
  );
}
