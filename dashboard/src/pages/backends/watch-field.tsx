import type { StaticBackend } from '../../../../client/src/index.ts';
import { Check, SelectField, TextField } from '../../components/field.tsx';
import type { InputProps } from '../../resource/describe.ts';

type Balance = 'round_robin' | 'least_connections' | 'source' | 'header';

/** How addresses are chosen and watched, as it is typed. */
export interface Watch {
  readonly by: Balance;
  readonly header: string;
  readonly retries: string;
  readonly whenAllDown: 'fail_open' | 'fail_closed';
  readonly slowStart: string;
  readonly active: {
    readonly isOn: boolean;
    readonly kind: 'http' | 'tcp';
    readonly path: string;
    readonly host: string;
    readonly statuses: string;
    readonly interval: string;
    readonly timeout: string;
    readonly failures: string;
    readonly passes: string;
  };
  readonly passive: {
    readonly isOn: boolean;
    readonly failures: string;
    readonly statuses: string;
    readonly down: string;
  };
}

const choices: readonly (readonly [Balance, string])[] = [
  ['round_robin', 'In turn'],
  ['least_connections', 'Least connections'],
  ['source', 'By the source: a client stays'],
  ['header', 'By a header: its value stays'],
];
const tries: readonly (readonly [string, string])[] = [
  ['0', 'None'],
  ['1', 'Once, for what may be repeated'],
  ['2', 'Twice, for what may be repeated'],
  ['3', '3 times, for what may be repeated'],
  ['4', '4 times, for what may be repeated'],
  ['5', '5 times, for what may be repeated'],
];

export function watchOf(row: Partial<StaticBackend>): Watch {
  const { balance, retries = 1, when_all_down, slow_start_seconds = 0, active_check: active, passive_check } = row;
  return {
    by: balance?.by ?? 'round_robin',
    header: balance?.header ?? '',
    retries: String(retries),
    whenAllDown: when_all_down === 'fail_closed' ? 'fail_closed' : 'fail_open',
    slowStart: String(slow_start_seconds),
    active: {
      isOn: active !== undefined,
      kind: active?.kind === 'tcp' ? 'tcp' : 'http',
      path: active?.path ?? '/',
      host: active?.host ?? '',
      statuses: (active?.statuses ?? ['200-399']).join(' '),
      interval: String(active?.interval_seconds ?? 30),
      timeout: String(active?.timeout_seconds ?? 2),
      failures: String(active?.failures ?? 3),
      passes: String(active?.passes ?? 2),
    },
    passive: {
      isOn: passive_check !== undefined,
      failures: String(passive_check?.failures ?? 3),
      statuses: (passive_check?.statuses ?? []).join(' '),
      down: String(passive_check?.down_seconds ?? 10),
    },
  };
}

/** Takes back a check that is switched off, whatever it was. */
export function bodyOf({ by, header, retries, whenAllDown, slowStart, active, passive }: Watch): object {
  return {
    balance: { by, ...(by === 'header' && { header: header.trim() }) },
    retries: Number(retries),
    when_all_down: whenAllDown,
    slow_start_seconds: Number(slowStart),
    active_check: active.isOn
      ? {
          kind: active.kind,
          ...(active.kind === 'http' && {
            path: active.path.trim(),
            ...(active.host.trim() !== '' && { host: active.host.trim() }),
            statuses: wordsOf(active.statuses),
          }),
          interval_seconds: Number(active.interval),
          timeout_seconds: Number(active.timeout),
          failures: Number(active.failures),
          passes: Number(active.passes),
        }
      : { enabled: false },
    passive_check: passive.isOn
      ? { failures: Number(passive.failures), statuses: wordsOf(passive.statuses), down_seconds: Number(passive.down) }
      : { enabled: false },
  };
}

function wordsOf(text: string): readonly string[] {
  return text.split(/[\s,]+/).filter((word) => word !== '');
}

/** The settings of several addresses and of checks. */
export function WatchField({ value, onChange }: InputProps<Watch>) {
  const { active, passive } = value;
  const set = (part: Partial<Watch>): void => onChange({ ...value, ...part });
  const setActive = (part: Partial<Watch['active']>): void => set({ active: { ...active, ...part } });
  const setPassive = (part: Partial<Watch['passive']>): void => set({ passive: { ...passive, ...part } });
  const number = (label: string, shown: string, change: (text: string) => void, note?: string) => (
    <TextField label={label} type="number" value={shown} onChange={change} {...(note !== undefined && { note })} />
  );
  return (
    <div className="stack">
      <div className="few-fields">
        <SelectField
          label="Which one a request goes to"
          value={value.by}
          options={choices}
          onChange={(by) => set({ by })}
        />
        <SelectField
          label="Second try"
          note="at another one"
          value={value.retries}
          options={tries}
          onChange={(retries) => set({ retries })}
        />
        <SelectField
          label="When all are down"
          value={value.whenAllDown}
          options={[
            ['fail_open', 'Try them all (fail open)'],
            ['fail_closed', 'Answer 503 (fail closed)'],
          ]}
          onChange={(whenAllDown) => set({ whenAllDown })}
        />
        {number('Slow start', value.slowStart, (slowStart) => set({ slowStart }), 'seconds')}
      </div>
      {value.by === 'header' ? (
        <TextField label="Header" mono value={value.header} onChange={(header) => set({ header })} />
      ) : null}
      <fieldset className="stack tight plain">
        <legend className="label">Active checks</legend>
        <Check isOn={active.isOn} onChange={(isOn) => setActive({ isOn })}>
          Every gateway checks each of them
        </Check>
        {active.isOn ? (
          <div className="inset-form">
            <div className="few-fields">
              <SelectField
                label="Kind"
                value={active.kind}
                options={[
                  ['http', 'HTTP'],
                  ['tcp', 'TCP, a connection'],
                ]}
                onChange={(kind) => setActive({ kind })}
              />
              {active.kind === 'tcp' ? null : (
                <>
                  <TextField label="Path" mono value={active.path} onChange={(path) => setActive({ path })} />
                  <TextField
                    label="Good answers"
                    mono
                    value={active.statuses}
                    onChange={(statuses) => setActive({ statuses })}
                  />
                  <TextField
                    label="Host header"
                    note="optional"
                    mono
                    value={active.host}
                    onChange={(host) => setActive({ host })}
                  />
                </>
              )}
              {number('Every', active.interval, (interval) => setActive({ interval }), 'seconds')}
              {number('Wait at most', active.timeout, (timeout) => setActive({ timeout }), 'seconds')}
              {number('Out after', active.failures, (failures) => setActive({ failures }), 'failed in a row')}
              {number('Back after', active.passes, (passes) => setActive({ passes }), 'good in a row')}
            </div>
          </div>
        ) : null}
      </fieldset>
      <fieldset className="stack tight plain">
        <legend className="label">Passive checks</legend>
        <Check isOn={passive.isOn} onChange={(isOn) => setPassive({ isOn })}>
          Real requests count; a failed connection always does
        </Check>
        {passive.isOn ? (
          <div className="inset-form">
            <div className="few-fields">
              {number('Down after', passive.failures, (failures) => setPassive({ failures }), 'in a row')}
              <TextField
                label="Failing answers"
                mono
                placeholder="502-504"
                value={passive.statuses}
                onChange={(statuses) => setPassive({ statuses })}
              />
              {number('Tried again after', passive.down, (down) => setPassive({ down }), 'seconds')}
            </div>
          </div>
        ) : null}
      </fieldset>
    </div>
  );
}
