import type { IpRestriction, TlsCertificate } from '../../../../client/src/index.ts';
import { client } from '../../api/client.ts';
import { useHealth } from '../../api/health.ts';
import { gatewayName, isBehind, useGateways } from '../../api/installation.ts';
import { useList, useRead } from '../../api/queries.ts';
import { countOf, formatNumber, restrictionName } from '../../lib/text.ts';
import { certificateDays, daysUntil, formatDate, formatEnd, formatTime } from '../../lib/time.ts';
import { edgeName } from '../../parts/backends.ts';
import { backendIdsOf, useConditions } from '../../parts/conditions.ts';
import { errorText } from '../../parts/health-box.tsx';
import { connectionNoun, isInTrouble, rankOf, requestNoun, titleOf as troubleOf } from '../../parts/health-words.ts';
import type { Need } from './need.ts';
import { useRuleNeeds } from './use-rule-needs.ts';
import { isNear, isUsedUp, titleOf, useQuotas } from './quotas.tsx';

/** The worst first; undefined until all that it depends on is known. */
export function useNeeds(): readonly Need[] | undefined {
  const restrictions = useList('IpRestrictionsList').data;
  const certificates = useList('TlsCertificatesList').data;
  const rules = useRuleNeeds();
  const needs = [
    ...useTroubledEdges(),
    ...useGatewayNeeds(),
    ...useQuotaNeeds(),
    ...useWarnings(restrictions ?? []),
    ...(rules ?? []),
  ];
  if (restrictions === undefined || certificates === undefined) return undefined;
  const ending = certificates
    .filter(({ not_after: end }) => daysUntil(end) < certificateDays)
    .toSorted((one, other) => one.not_after.localeCompare(other.not_after))
    .map((certificate) => certificateNeed(certificate));
  // Looking through very many rules takes seconds: what is known already is shown.
  if (rules === undefined && needs.length + ending.length === 0) return undefined;
  const rank = ({ tone, isCalm }: Need): number => (tone === 'deny' ? 0 : isCalm === true ? 2 : 1);
  return [...needs, ...ending].toSorted((one, other) => rank(one) - rank(other));
}

/** Errors from which an edge that mostly answers is worth a look, and the share that is so with fewer. */
const worthALook = 3;
const largeShare = 0.1;

/** Edges that fail or are slow, and those whose backend is down; not those that nobody asks. The worst first. */
function useTroubledEdges(): readonly Need[] {
  const book = useHealth();
  const conditions = useConditions();
  const { data: https = [] } = useList('HttpsEdgesList');
  const { data: tcp = [] } = useList('TcpEdgesList');
  const { data: tls = [] } = useList('TlsEdgesList');
  if (book === undefined || conditions === undefined) return [];
  const edges = [
    ...https.map((edge) => ({ edge, path: '/https-edges', noun: requestNoun })),
    ...tcp.map((edge) => ({ edge, path: '/tcp-edges', noun: connectionNoun })),
    ...tls.map((edge) => ({ edge, path: '/tls-edges', noun: connectionNoun })),
  ];
  return edges
    .flatMap(({ edge, path, noun }) => {
      const [health, ids] = [book.find(edge.id), backendIdsOf(edge)];
      const state = book.stateOf(edge, conditions.of(ids));
      if (!isInTrouble(state)) return [];
      const { errors = 0, requests = 0, last_error: error } = health ?? {};
      if (state === 'answers_in_part' && errors < worthALook && errors < largeShare * requests) return [];
      const title = troubleOf({ thing: edge, state, health, book, noun, fault: conditions.faultOf(ids) });
      const note =
        error === undefined ? undefined : (
          <>
            Last error {formatTime(error.at)}: {errorText(error)}
          </>
        );
      const need: Need = {
        key: edge.id,
        tone: rankOf(state) <= 1 ? 'deny' : 'warn',
        title: `${edgeName(edge)}: ${title}`,
        note,
        action: { to: `${path}/${edge.id}`, words: 'See the edge' },
        level: -rankOf(state),
      };
      return [need];
    })
    .toSorted((one, other) => other.level - one.level);
}

function useGatewayNeeds(): readonly Need[] {
  const gateways = useGateways()?.gateways ?? [];
  const shut = gateways.flatMap((gateway) =>
    gateway.unopened_ports.map(({ port, edge_id: edge, reason }): Need => ({
      key: `${gateway.id} ${port}`,
      tone: 'deny',
      title: `TCP port ${port} could not be opened on ${gatewayName(gateway)}`,
      note: reason,
      action: { to: `/tcp-edges/${edge}`, words: 'See the edge' },
      level: 0,
    })),
  );
  const behind = gateways
    .filter((gateway) => isBehind(gateway))
    .map((gateway): Need => ({
      key: gateway.id,
      tone: 'warn',
      title: `The gateway ${gatewayName(gateway)} lags`,
      note: `It does not obey changes that were stored ${Math.round((gateway.lag_ms ?? 0) / 1000)} s ago.`,
      level: 0,
    }));
  return [...shut, ...behind];
}

function useQuotaNeeds(): readonly Need[] {
  const near = (useQuotas() ?? []).filter((quota) => isNear(quota));
  return near.map((quota) => ({
    key: `quota ${quota.name}`,
    tone: isUsedUp(quota) ? 'deny' : 'warn',
    title: `${titleOf(quota)}: ${formatNumber(quota.used)} of ${formatNumber(quota.limit)}`,
    note: `${isUsedUp(quota) ? 'The quota is used up: more are refused.' : 'The quota is nearly used up.'} Delete some that are not needed, or ask the operator of the installation for more.`,
    level: quota.used,
  }));
}

/** Restrictions whose warnings are read; others are named without their number. */
const mostRead = 20;

/** Restrictions that only warn: one row each where they would refuse somebody, one for all others together. */
function useWarnings(restrictions: readonly IpRestriction[]): readonly Need[] {
  const warning = restrictions.filter(({ enforced }) => !enforced);
  const ids = warning.slice(0, mostRead).map(({ id }) => id);
  const { data } = useRead(
    ['warnings of restrictions', ids],
    (signal) => Promise.all(ids.map((id) => client.call('IpRestrictionWarningsList', { path: { id }, signal }))),
    { enabled: ids.length > 0 },
  );
  if (data === undefined) return [];
  const hit = warning.flatMap((restriction, at): readonly Need[] => {
    const { total_sources: count = 0, warnings = [] } = data[at] ?? {};
    if (count === 0) return [];
    const words = countOf(count, 'address', 'addresses');
    return [
      {
        key: restriction.id,
        tone: 'warn',
        title: `Restriction “${restrictionName(restriction)}” only warns`,
        note: `${words} would be refused, the last one ${formatTime(warnings[0]?.last_seen ?? '')}.`,
        action: { to: `/ip-restrictions/${restriction.id}`, words: `Review ${words}` },
        level: count,
      },
    ];
  });
  const [first, ...more] = warning.filter(({ id }) => hit.every(({ key }) => key !== id));
  if (first === undefined) return hit;
  const isOne = more.length === 0;
  const quiet: Need = {
    key: 'restrictions that warn',
    tone: 'warn',
    title: isOne ? `Restriction “${restrictionName(first)}” only warns` : `${more.length + 1} restrictions only warn`,
    note: `${isOne ? 'It' : 'They'} would have refused nobody so far.`,
    action: { to: isOne ? `/ip-restrictions/${first.id}` : '/ip-restrictions', words: 'Review' },
    level: more.length,
    isCalm: true,
  };
  return [...hit, quiet];
}

function certificateNeed(certificate: TlsCertificate): Need {
  const { not_after: end, description, subject_common_name: subject, id } = certificate;
  const [days, name] = [daysUntil(end), description ?? subject ?? id];
  return {
    key: id,
    tone: days < 0 ? 'deny' : 'warn',
    title: days < 0 ? `Certificate ${name} has ended` : `Certificate ${name} ends ${formatEnd(end)}`,
    note: `${formatDate(end)}. Nothing renews it: it was uploaded.`,
    action: { to: `/certificates/${id}`, words: 'See the certificate' },
    level: 0,
  };
}
