import type { ReactNode } from 'react';

import { useHealth } from '../api/health.ts';
import { useList } from '../api/queries.ts';
import { Glyph } from '../components/verdict.tsx';
import { certificateDays, daysUntil } from '../lib/time.ts';
import { backendIdsOf, useConditions } from '../parts/conditions.ts';
import { isInTrouble } from '../parts/health-words.ts';

/** A triangle with a count in place of `children`, where something on that page needs a person. */
export function Attention({ page, children }: { readonly page: string; readonly children: ReactNode }) {
  if (page === 'ip-restrictions') return <WarningRestrictions>{children}</WarningRestrictions>;
  if (page === 'certificates') return <EndingCertificates>{children}</EndingCertificates>;
  if (page === 'https-edges') return <TroubledEdges list="HttpsEdgesList">{children}</TroubledEdges>;
  if (page === 'backends') return <TroubledBackends>{children}</TroubledBackends>;
  if (page === 'tcp-edges') return <TroubledEdges list="TcpEdgesList">{children}</TroubledEdges>;
  if (page === 'tls-edges') return <TroubledEdges list="TlsEdgesList">{children}</TroubledEdges>;
  return children;
}

function TroubledEdges({
  list,
  children,
}: {
  readonly list: 'HttpsEdgesList' | 'TcpEdgesList' | 'TlsEdgesList';
  readonly children: ReactNode;
}) {
  const { data = [] } = useList(list, { wanted: 1 });
  const book = useHealth();
  const conditions = useConditions();
  return (
    <Needing
      count={
        book === undefined || conditions === undefined
          ? 0
          : data.filter((edge) => isInTrouble(book.stateOf(edge, conditions.of(backendIdsOf(edge))))).length
      }
      what="in trouble"
    >
      {children}
    </Needing>
  );
}

function TroubledBackends({ children }: { readonly children: ReactNode }) {
  const { data = [] } = useList('StaticBackendsList', { wanted: 1 });
  const conditions = useConditions();
  const troubled = conditions === undefined ? [] : data.filter((each) => isInTrouble(conditions.stateOf(each)));
  return (
    <Needing count={troubled.length} what="in trouble">
      {children}
    </Needing>
  );
}

function WarningRestrictions({ children }: { readonly children: ReactNode }) {
  const { data = [] } = useList('IpRestrictionsList', { wanted: 1 });
  return (
    <Needing count={data.filter(({ enforced }) => !enforced).length} what="only warn">
      {children}
    </Needing>
  );
}

function EndingCertificates({ children }: { readonly children: ReactNode }) {
  const { data = [] } = useList('TlsCertificatesList', { wanted: 1 });
  return (
    <Needing count={data.filter(({ not_after: end }) => daysUntil(end) < certificateDays).length} what="end soon">
      {children}
    </Needing>
  );
}

function Needing({
  count,
  what,
  children,
}: {
  readonly count: number;
  readonly what: string;
  readonly children: ReactNode;
}) {
  if (count === 0) return children;
  return (
    <span className="count warn">
      <Glyph tone="warn" />
      {count}
      <span className="vh"> {what}</span>
    </span>
  );
}
