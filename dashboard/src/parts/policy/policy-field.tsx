import { useRef } from 'react';

import { useOne } from '../../api/queries.ts';
import { TextField } from '../../components/field.tsx';
import { useDebounced } from '../../lib/debounced.ts';
import { Fault } from './fault.tsx';
import { Trial } from './trial.tsx';

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
  const settled = useDebounced(policy);
  const { error: refusal } = useOne(
    'TrafficPolicyCheck',
    { body: { policy: settled } },
    { enabled: settled.trim() !== '' },
  );
  const fault = error ?? (settled.trim() === '' ? undefined : refusal?.message);
  const select = (start: number, end: number) => {
    const area = wrapper.current?.querySelector('textarea');
    area?.focus();
    area?.setSelectionRange(start, end);
  };
  return (
    <div className="cols policy" ref={wrapper}>
      <TextField
        label="Policy"
        mono
        rows={22}
        placeholder={
          'on_http_request:\n  - expressions:\n      - req.method == "PUT"\n    actions:\n      - type: deny'
        }
        value={policy}
        onChange={onChange}
        error={fault === undefined ? undefined : <Fault message={fault} policy={settled} onShow={select} />}
        hint="YAML or JSON, with rules for each phase. It is checked while you type, and kept as it is written."
      />
      <Trial policy={settled} isFaulty={fault !== undefined} url={url} />
    </div>
  );
}
