import { isBehind, useGateways } from '../api/installation.ts';
import { Glyph } from '../components/verdict.tsx';
import { formatNumber } from '../lib/text.ts';

/** Version of the configuration, and how many gateways have it. */
export function ServiceState() {
  const state = useGateways();
  if (state === undefined || state.gateways.length === 0) return null;
  const { gateways, version } = state;
  const current = gateways.filter((gateway) => !isBehind(gateway)).length;
  return (
    <span className="row">
      <Glyph tone={current === gateways.length ? 'allow' : 'warn'} />
      <span>
        Config {formatNumber(version)} · {current} of {gateways.length} live
      </span>
    </span>
  );
}
