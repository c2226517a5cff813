import { useList } from '../../api/queries.ts';
import { PageHead } from '../../components/page.tsx';
import type { PageProps } from '../../components/page.tsx';
import { Skeleton } from '../../components/states.tsx';
import { Pictures } from '../../parts/pictures/pictures.tsx';
import { Configured } from './configured.tsx';
import { GatewayTable } from './gateway-table.tsx';
import { NeedsPerson } from './needs-person.tsx';
import { Quotas } from './quotas.tsx';
import { Steps } from './steps.tsx';
import { TrafficNow } from './traffic-now.tsx';

/** Shows what needs a person, then what happens now, then what is there. A new installation gets three steps in their place. */
export function Page({ pages }: PageProps) {
  const backends = useList('StaticBackendsList', { wanted: 1 });
  const https = useList('HttpsEdgesList', { wanted: 1 });
  const tcp = useList('TcpEdgesList', { wanted: 1 });
  const tls = useList('TlsEdgesList', { wanted: 1 });
  const restrictions = useList('IpRestrictionsList', { wanted: 1 });
  if (
    https.data === undefined ||
    tcp.data === undefined ||
    tls.data === undefined ||
    restrictions.data === undefined ||
    backends.data === undefined
  ) {
    return https.error === undefined ? <Skeleton lines={5} /> : <NeedsPerson />;
  }
  const edges = [
    ...https.data.map(({ id, routes, hostports }) => ({ path: `/https-edges/${id}`, hostports, parts: routes })),
    ...tcp.data.map((edge) => ({ path: `/tcp-edges/${edge.id}`, hostports: edge.hostports, parts: [edge] })),
    ...tls.data.map((edge) => ({ path: `/tls-edges/${edge.id}`, hostports: edge.hostports, parts: [edge] })),
  ];
  const isServing = edges.some(
    ({ hostports, parts }) =>
      (hostports ?? []).length > 0 && parts.some(({ backend }) => backend !== null && backend.enabled),
  );
  const isGuarded = edges.some(({ parts }) => parts.some(({ ip_restriction: module }) => module?.enabled === true));
  const steps = {
    done: [backends.data.length > 0 || isServing, isServing, restrictions.data.length > 0 || isGuarded] as const,
    backendId: backends.data[0]?.id,
    unfinished: edges[0]?.path,
  };
  if (edges.length === 0) return <Steps {...steps} isNew />;
  return (
    <>
      <PageHead title="Overview" />
      <NeedsPerson />
      {steps.done.every(Boolean) ? null : <Steps {...steps} isNew={false} />}
      <Pictures of={{}} title="Traffic of all edges" otherwise={<TrafficNow />} />
      <div className="cols">
        <GatewayTable />
        <Configured pages={pages} />
      </div>
      <Quotas />
    </>
  );
}
