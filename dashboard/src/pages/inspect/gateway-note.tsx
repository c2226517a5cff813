import type { InspectionWithRequests } from '../../../../client/src/index.ts';
import { gatewayName, useGateways } from '../../api/installation.ts';
import { Banner } from '../../components/banner.tsx';

const reasons: Readonly<Record<string, string>> = {
  no_answer: 'does not answer',
  unreachable: 'cannot be reached from here',
  full: 'records as many inspections as it can',
  failed: 'is of another version',
  not_asked: 'was not asked: there are too many',
};

/** Names gateways whose requests are missing. */
export function GatewayNote({ gateways }: { readonly gateways: InspectionWithRequests['gateways'] }) {
  const known = useGateways()?.gateways ?? [];
  const missing = gateways.filter(({ state }) => state !== 'answered');
  if (missing.length === 0) return null;
  const words = missing.map(({ process_id: id, state }) => {
    const gateway = known.find((each) => each.id === id);
    return `${gateway === undefined ? id : gatewayName(gateway)} ${reasons[state] ?? state}`;
  });
  return (
    <Banner tone="warn" note="What it has recorded is missing here until it answers again.">
      Not all gateways are shown: {words.join(', ')}.
    </Banner>
  );
}
