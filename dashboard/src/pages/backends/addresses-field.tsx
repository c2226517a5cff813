import { Button } from '../../components/button.tsx';
import { Glyph } from '../../components/verdict.tsx';
import type { InputProps } from '../../resource/describe.ts';

/** An address of a backend, as it is typed. */
export interface AddressLine {
  readonly address: string;
  readonly weight: string;
}

const mostAddresses = 32;

/** Lines of an address, with its weight where there are several. */
export function AddressesField({ value, onChange, error }: InputProps<readonly AddressLine[]>) {
  const change = (line: number, part: Partial<AddressLine>): void =>
    onChange(value.map((each, at) => (at === line ? { ...each, ...part } : each)));
  const isAlone = value.length < 2;
  return (
    <fieldset className="stack tight plain">
      <legend className="label">
        {isAlone ? 'Where traffic is sent' : 'Where traffic is sent, with weights'}{' '}
        <small>host:port; weight 0 takes one out and keeps its checks</small>
      </legend>
      {value.map((each, line) => (
        // oxlint-disable-next-line react/no-array-index-key -- lines have no identity but their place
        <div key={line} className="addr">
          <input
            className="input mono"
            aria-label={line === 0 ? 'Address' : `Address ${line + 1}`}
            aria-invalid={error !== undefined && line === 0 ? true : undefined}
            placeholder="app.internal:8080"
            spellCheck={false}
            autoComplete="off"
            value={each.address}
            onChange={(event) => change(line, { address: event.target.value })}
          />
          {isAlone ? null : (
            <>
              <input
                className="input"
                type="number"
                min={0}
                max={10_000}
                aria-label={`Weight ${line + 1}`}
                value={each.weight}
                onChange={(event) => change(line, { weight: event.target.value })}
              />
              <Button
                look="ghost"
                icon="close"
                aria-label={`Take out address ${line + 1}`}
                onClick={() => onChange(value.filter((_, at) => at !== line))}
              />
            </>
          )}
        </div>
      ))}
      {error === undefined ? null : (
        <p className="error" role="alert">
          <Glyph tone="deny" />
          <span>{error}</span>
        </p>
      )}
      {value.length >= mostAddresses ? null : (
        <div className="row wrap">
          <Button small icon="plus" onClick={() => onChange([...value, { address: '', weight: '1' }])}>
            Add address
          </Button>
        </div>
      )}
    </fieldset>
  );
}
