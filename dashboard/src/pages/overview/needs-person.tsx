import type { ReactNode } from 'react';
import { Fragment } from 'react';

import type { IpRestriction, TlsCertificate } from '../../../../client/src/index.ts';
import { useHealth } from '../../api/health.ts';
import { gatewayName, isBehind, useGateways } from '../../api/installation.ts';
import { useList, useOne } from '../../api/queries.ts';
import { ButtonLink } from '../../components/button.tsx';
import { Panel } from '../../components/page.tsx';
import { ErrorState, Skeleton } from '../../components/states.tsx';
import { Glyph } from '../../components/verdict.tsx';
import type { Tone } from '../../components/verdict.tsx';
import { countOf, formatNumber, restrictionName } from '../../lib/text.ts';
import { certificateDays, daysUntil, formatDate, formatEnd, formatTime } from '../../lib/time.ts';
import { edgeName } from '../../parts/backends.ts';
import {
  connectionNoun,
  errorText,
  failedText,
  isInTrouble,
  rankOf,
  requestNoun,
  timeText,
} from '../../parts/health.tsx';
import { isNear, isUsedUp, titleOf, useQuotas } from './quotas.tsx';

/** What somebody has to look at; a calm line when nothing is. */
export function NeedsPerson() {
  const restrictions = useList('IpRestrictionsList');
  const certificates = useList('TlsCertificatesList');
  const gateways = useGateways()?.gateways ?? [];
  const troubled = useTroubledEdges();
  const near = (useQuotas() ?? []).filter((quota) => isNear(quota));
  if (restrictions.error !== undefined && restrictions.data === undefined) {
    return (
      <Panel title="Needs a person" flush>
        <ErrorState
          title="The restrictions could not be read"
          error={restrictions.error}
          onRetry={restrictions.retry}
        />
      </Panel>
    );
  }
  if (restrictions.data === undefined || certificates.data === undefined) {
    return (
      <Panel title="Needs a person">
        <Skeleton />
      </Panel>
    );
  }
  const warning = restrictions.data.filter(({ enforced }) => !enforced);
  const ending = certificates.data.filter(({ not_after: end }) => daysUntil(end) < certificateDays);
  const shut = gateways.flatMap((gateway) => gateway.unopened_ports.map((port) => ({ gateway, ...port })));
  const behind = gateways.filter((gateway) => isBehind(gateway));
  const count = troubled.length + warning.length + ending.length + shut.length + behind.length + near.length;
  if (count === 0) {
    return (
      <Panel title="Needs a person">
        <span className="row">
          <Glyph tone="allow" />
          <span>
            Nothing. No edge fails, no restriction only warns, no certificate ends soon, every port is open, no quota is
            near.
          </span>
        </span>
      </Panel>
    );
  }
  return (
    <Panel title="Needs a person" note={String(count)} flush>
      <ul className="list">
        {troubled.map(({ edge, path, title, isDown, lastError }) => (
          <Item
            key={edge.id}
            tone={isDown ? 'deny' : 'warn'}
            title={`${edgeName(edge)}: ${title}`}
            action={
              <ButtonLink small to={`${path}/${edge.id}`}>
                See the edge
              </ButtonLink>
            }
          >
            {lastError === undefined ? null : (
              <>
                Last error {formatTime(lastError.at)}: {errorText(lastError)}
              </>
            )}
          </Item>
        ))}
        {shut.map(({ gateway, port, edge_id: edge, reason }) => (
          <Item
            key={`${gateway.id} ${port}`}
            tone="deny"
            title={`TCP port ${port} could not be opened on ${gatewayName(gateway)}`}
            action={
              <ButtonLink small to={`/tcp-edges/${edge}`}>
                See the edge
              </ButtonLink>
            }
          >
            {reason}
          </Item>
        ))}
        {behind.map((gateway) => (
          <Item key={gateway.id} tone="warn" title={`The gateway ${gatewayName(gateway)} lags`}>
            It does not obey changes that were stored {Math.round((gateway.lag_ms ?? 0) / 1000)} s ago.
          </Item>
        ))}
        {near.map((quota) => (
          <Item
            key={quota.name}
            tone={isUsedUp(quota) ? 'deny' : 'warn'}
            title={`${titleOf(quota)}: ${formatNumber(quota.used)} of ${formatNumber(quota.limit)}`}
          >
            {isUsedUp(quota) ? 'The quota is used up: more are refused.' : 'The quota is nearly used up.'} Delete some
            that are not needed, or ask the operator of the installation for more.
          </Item>
        ))}
        {warning.map((restriction) => (
          <WarningItem key={restriction.id} restriction={restriction} />
        ))}
        {ending.map((certificate) => (
          <CertificateItem key={certificate.id} certificate={certificate} />
        ))}
      </ul>
    </Panel>
  );
}

/** Edges that fail or are slow by their own requests; not those that nobody asks. The worst first. */
function useTroubledEdges() {
  const book = useHealth();
  const { data: https = [] } = useList('HttpsEdgesList');
  const { data: tcp = [] } = useList('TcpEdgesList');
  const { data: tls = [] } = useList('TlsEdgesList');
  if (book === undefined) return [];
  const edges = [
    ...https.map((edge) => ({ edge, path: '/https-edges', noun: requestNoun })),
    ...tcp.map((edge) => ({ edge, path: '/tcp-edges', noun: connectionNoun })),
    ...tls.map((edge) => ({ edge, path: '/tls-edges', noun: connectionNoun })),
  ];
  return edges
    .flatMap(({ edge, path, noun }) => {
      const [health, state] = [book.find(edge.id), book.stateOf(edge)];
      if (health === undefined || !isInTrouble(state)) return [];
      const title =
        state === 'slow'
          ? `slow, 5 in 100 ${noun[1]} wait ${timeText(health.p95_ms)} or longer`
          : failedText(health, book, noun);
      return [{ edge, path, title, state, isDown: state === 'does_not_answer', lastError: health.last_error }];
    })
    .toSorted((one, other) => rankOf(one.state) - rankOf(other.state));
}

function Item({
  tone,
  title,
  action,
  children,
}: {
  readonly tone: Tone;
  readonly title: string;
  readonly action?: ReactNode;
  readonly children: ReactNode;
}) {
  return (
    <li>
      <Glyph tone={tone} />
      <div className="t">
        <b>{title}</b>
        <span>{children}</span>
      </div>
      {action}
    </li>
  );
}

function WarningItem({ restriction }: { readonly restriction: IpRestriction }) {
  const { data } = useOne('IpRestrictionWarningsList', { path: { id: restriction.id } });
  const count = data?.document.total_sources ?? 0;
  return (
    <Item
      tone="warn"
      title={`Restriction “${restrictionName(restriction)}” only warns`}
      action={
        <ButtonLink small to={`/ip-restrictions/${restriction.id}`}>
          {count === 0 ? 'Review' : `Review ${countOf(count, 'address', 'addresses')}`}
        </ButtonLink>
      }
    >
      {data === undefined ? null : (
        <Fragment>
          {count === 0
            ? 'Nobody has come so far whom it would refuse.'
            : `${countOf(count, 'address', 'addresses')} would be refused, the last one ${formatTime(data.document.warnings[0]?.last_seen ?? '')}.`}
        </Fragment>
      )}
    </Item>
  );
}

function CertificateItem({ certificate }: { readonly certificate: TlsCertificate }) {
  const days = daysUntil(certificate.not_after);
  const name = certificate.description ?? certificate.subject_common_name ?? certificate.id;
  return (
    <Item
      tone={days < 0 ? 'deny' : 'warn'}
      title={
        days < 0 ? `Certificate ${name} has ended` : `Certificate ${name} ends ${formatEnd(certificate.not_after)}`
      }
      action={
        <ButtonLink small to={`/certificates/${certificate.id}`}>
          See the certificate
        </ButtonLink>
      }
    >
      {formatDate(certificate.not_after)}. Nothing renews it: it was uploaded.
    </Item>
  );
}
