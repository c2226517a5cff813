import { gatewayName, isBehind, useGateways } from '../../api/installation.ts';
import type { Gateway } from '../../api/installation.ts';
import { Panel } from '../../components/page.tsx';
import { Table } from '../../components/table.tsx';
import type { Column } from '../../components/table.tsx';
import { Verdict } from '../../components/verdict.tsx';
import { countOf, formatNumber } from '../../lib/text.ts';

const columns: readonly Column<Gateway>[] = [
  { id: 'name', head: 'Name', width: '34%', cell: (gateway) => <span className="main">{gatewayName(gateway)}</span> },
  { id: 'version', head: 'Gatehouse', priority: 'p1', cell: ({ version = '' }) => version },
  {
    id: 'configuration',
    head: 'Configuration',
    isNumber: true,
    cell: ({ configuration_version: version }) => (version === undefined ? '' : formatNumber(version)),
  },
  {
    id: 'behind',
    head: 'Behind',
    isNumber: true,
    priority: 'p2',
    cell: ({ lag_ms: lag }) => (lag === undefined ? '0 ms' : `${formatNumber(lag)} ms`),
  },
  { id: 'state', head: 'State', cell: (gateway) => <State gateway={gateway} /> },
];

/** The processes that serve traffic, and whether they have the newest configuration. */
export function GatewayTable() {
  const gateways = useGateways()?.gateways;
  if (gateways === undefined) return null;
  return (
    <Panel title="Gateways" flush>
      <Table label="Gateways" columns={columns} rows={gateways} keyOf={({ id }) => id} />
    </Panel>
  );
}

function State({ gateway }: { readonly gateway: Gateway }) {
  const { length: shut } = gateway.unopened_ports;
  if (isBehind(gateway)) return <Verdict tone="warn">Lags</Verdict>;
  return shut === 0 ? (
    <Verdict tone="allow">Live</Verdict>
  ) : (
    <Verdict tone="warn">{countOf(shut, 'port', 'ports')} shut</Verdict>
  );
}
