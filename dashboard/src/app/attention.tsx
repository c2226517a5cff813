import type { ReactNode } from 'react';

import { useList } from '../api/queries.ts';
import { Glyph } from '../components/verdict.tsx';
import { certificateDays, daysUntil } from '../lib/time.ts';

/** A triangle with a count in place of `children`, where something on that page needs a person. */
export function Attention({ page, children }: { readonly page: string; readonly children: ReactNode }) {
  if (page === 'ip-restrictions') return <WarningRestrictions>{children}</WarningRestrictions>;
  if (page === 'certificates') return <EndingCertificates>{children}</EndingCertificates>;
  return children;
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
