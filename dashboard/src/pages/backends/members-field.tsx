import { useId } from 'react';

import { Button } from '../../components/button.tsx';
import { Glyph } from '../../components/verdict.tsx';
import { useBackends } from '../../parts/backends.ts';
import type { InputProps } from '../../resource/describe.ts';

/** A member of a backend that stands for others, as it is typed. */
export interface Member {
  readonly id: string;
  readonly weight: string;
}

/** Lines of a backend, with its weight where there is one. */
export function MembersField({
  label,
  hasWeights = false,
  value,
  onChange,
  error,
}: InputProps<readonly Member[]> & { readonly label: string; readonly hasWeights?: boolean }) {
  const id = useId();
  const { all = [] } = useBackends();
  const change = (line: number, part: Partial<Member>): void =>
    onChange(value.map((each, at) => (at === line ? { ...each, ...part } : each)));
  return (
    <fieldset className="stack tight plain">
      <legend className="label">{label}</legend>
      {value.map((member, line) => (
        // oxlint-disable-next-line react/no-array-index-key -- lines have no identity but their place
        <div key={line} className="hdr">
          <select
            className="input"
            aria-label={`Backend ${line + 1}`}
            value={member.id}
            onChange={(event) => change(line, { id: event.target.value })}
          >
            <option value="">Choose a backend</option>
            {all.map((each) => (
              <option key={each.id} value={each.id}>
                {each.name}
              </option>
            ))}
          </select>
          {hasWeights ? (
            <input
              className="input"
              type="number"
              min={0}
              max={10_000}
              aria-label={`Weight ${line + 1}`}
              value={member.weight}
              onChange={(event) => change(line, { weight: event.target.value })}
            />
          ) : null}
          <Button
            look="ghost"
            icon="close"
            aria-label={`Take out backend ${line + 1}`}
            onClick={() => onChange(value.filter((_, at) => at !== line))}
          />
        </div>
      ))}
      {error === undefined ? null : (
        <p className="error" id={`${id}-error`} role="alert">
          <Glyph tone="deny" />
          <span>{error}</span>
        </p>
      )}
      <div className="row wrap">
        <Button small icon="plus" onClick={() => onChange([...value, { id: '', weight: '100' }])}>
          Add backend
        </Button>
      </div>
    </fieldset>
  );
}
