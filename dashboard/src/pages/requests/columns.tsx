import { Link } from 'wouter';

import type { Decision } from '../../../../client/src/index.ts';
import { Icon } from '../../components/icon.tsx';
import { Strange } from '../../components/strange.tsx';
import { Verdict } from '../../components/verdict.tsx';
import type { WindowColumn } from '../../components/windowed-table.tsx';
import { visible } from '../../lib/strangers.ts';
import { formatExactly, formatMoment } from '../../lib/time.ts';
import type { EdgeNames } from '../../parts/edge-names.ts';
import type { Names } from '../../parts/names.ts';
import { explanationOf } from '../../parts/past-requests.ts';
import { verdictTones, verdictWords } from '../../parts/traffic-words.ts';
import { causeOf } from './cause.ts';

/** Columns of past requests; on a narrow screen, who came and what has refused them stand below the request. */
export function columnsOf(edges: EdgeNames, names: Names): readonly WindowColumn<Decision>[] {
  return [
    {
      id: 'time',
      head: 'Time',
      width: '124px',
      className: 'p2',
      cell: ({ at }) => (
        <time className="mono muted" dateTime={at} title={formatExactly(at)}>
          {formatMoment(at)}
        </time>
      ),
    },
    {
      id: 'verdict',
      head: 'Verdict',
      className: 'verdict-cell',
      cell: (row) => <VerdictCell {...row} />,
    },
    {
      id: 'source',
      head: 'Who',
      width: '17%',
      className: 'p1',
      cell: ({ client_ip: ip, person }) => (
        <>
          <span className="mono" title={ip}>
            {ip}
          </span>
          {person === undefined ? null : (
            <span className="muted">
              {' '}
              <Strange text={person} />
            </span>
          )}
        </>
      ),
    },
    {
      id: 'request',
      head: 'Request',
      cell: (row) => (
        <>
          <Link className="main mono request" to={explanationOf(row)} data-row-link title={visible(requestOf(row))}>
            <bdi>{visible(requestOf(row))}</bdi>
          </Link>
          <span className="sub m1">{subOf(row, names)}</span>
        </>
      ),
    },
    {
      id: 'host',
      head: 'Host',
      width: '15%',
      className: 'p4',
      cell: ({ host }) => (host === undefined ? null : <Strange isMono text={host} />),
    },
    {
      id: 'edge',
      head: 'Edge',
      width: '12%',
      className: 'p3 soft',
      cell: ({ edge_id: id, host }) => <bdi>{edges.nameOf(id, visible(host ?? id))}</bdi>,
    },
    {
      id: 'cause',
      head: 'By what',
      width: '22%',
      className: 'p2 soft',
      cell: (row) => {
        const cause = causeOf(row, names);
        if (cause === undefined) return null;
        const words = <bdi title={visible(cause.text)}>{visible(cause.text)}</bdi>;
        return cause.to === undefined ? words : <Link to={cause.to}>{words}</Link>;
      },
    },
    { id: 'status', head: 'Status', width: '64px', className: 'p1 num', cell: ({ status }) => status ?? '' },
  ];
}

/** Such as "GET /prices"; the port of a connection. */
export function requestOf({ kind, method, path, host, port }: Decision): string {
  if (kind === 'https') return `${method ?? ''} ${path ?? ''}`.trim();
  return `TCP ${host ?? (port === undefined ? '' : `port ${port}`)}`.trim();
}

function subOf(row: Decision, names: Names): string {
  const cause = causeOf(row, names);
  return [formatMoment(row.at), row.client_ip, row.person, cause?.text]
    .filter((part) => part !== undefined)
    .map(visible)
    .join(' · ');
}

function VerdictCell({ verdict }: Decision) {
  const word = <span className="word">{verdictWords[verdict]}</span>;
  if (verdict !== 'allowed') return <Verdict tone={verdictTones[verdict]}>{word}</Verdict>;
  return (
    <span className="v off">
      <Icon name="check" />
      {word}
    </span>
  );
}
