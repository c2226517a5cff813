import { Link } from 'wouter';

import { useSession } from '../../api/session.ts';
import { Banner } from '../../components/banner.tsx';
import { Secret } from '../../components/copy.tsx';
import { Strange } from '../../components/strange.tsx';
import { Time } from '../../components/time.tsx';
import { Glyph, Verdict } from '../../components/verdict.tsx';
import type { Tone } from '../../components/verdict.tsx';
import { saveCsv } from '../../lib/csv.ts';
import { visible } from '../../lib/strangers.ts';
import { countOf, formatNumber, shortId } from '../../lib/text.ts';
import { useEdges } from '../edge-names.ts';
import type { EdgeNames } from '../edge-names.ts';
import { pastRequests } from '../past-requests.ts';
import type { AdmitsNew, Rehearsal, Turned } from './rehearsal.ts';
import { leastWords, placeWords, shareWords, triedWords } from './rehearsal-words.ts';

/** Visitors of the kept days whose verdict would be another one. */
export function Visits({ what, visits }: { readonly what: string; readonly visits: Rehearsal['visits'] }) {
  const { address } = useSession();
  const edges = useEdges();
  if (visits === 'not_kept') return <NoDays />;
  const { newly_refused: refused, newly_admitted: admitted, cannot_tell: unknown, you } = visits;
  const isNobody = refused.requests + admitted.requests === 0;
  const isSure = !visits.is_partial && unknown.requests === 0;
  return (
    <>
      {you.newly_refused_at.length === 0 ? null : (
        <Banner tone="deny" note={`At ${namesOf(you.newly_refused_at, edges)}.`}>
          You would be refused: your address is <code>{address}</code>.
        </Banner>
      )}
      {visits.is_partial ? (
        <Banner tone="warn" note={visits.partial.join(' ')}>
          Figures can only grow
        </Banner>
      ) : null}
      {isNobody ? (
        <Banner
          tone={isSure ? 'allow' : 'off'}
          note={`${countOf(visits.unchanged, 'request keeps its verdict', 'requests keep their verdict')}.`}
        >
          {isSure ? 'Nobody of the days that are kept' : 'Nobody who is known'}
        </Banner>
      ) : null}
      <p className="soft">{triedWords(what, visits)}</p>
      {refused.requests === 0 ? null : (
        <TurnedSection
          turned={refused}
          least={leastWords(visits, refused)}
          words="Newly refused"
          tone="deny"
          note={`${countOf(refused.requests, 'request', 'requests')}, ${shareWords(refused.share)} of all`}
        />
      )}
      {admitted.requests === 0 ? null : (
        <TurnedSection
          turned={admitted}
          least={leastWords(visits, admitted)}
          words="Newly admitted"
          tone="allow"
          note={`${countOf(admitted.requests, 'request that was', 'requests that were')} refused until now`}
        />
      )}
      {unknown.requests === 0 ? null : (
        <TurnedSection
          turned={unknown}
          least={leastWords(visits, unknown)}
          words="Unknown"
          tone="off"
          note={`${countOf(unknown.requests, 'request', 'requests')}: something decides that is not kept`}
        />
      )}
      <ul className="rules">
        {you.newly_refused_at.length > 0 ? null : (
          <li>
            <Glyph tone={you.newly_admitted_at.length > 0 ? 'allow' : 'off'} />
            <span>{you.newly_admitted_at.length > 0 ? 'You would be let in' : 'Your verdict stays'}</span>
            <span className="end mono">{address}</span>
          </li>
        )}
        {isNobody ? null : (
          <li>
            <Glyph tone="off" />
            <span>All others: the same verdict as now</span>
            <span className="end">{countOf(visits.unchanged, 'request', 'requests')}</span>
          </li>
        )}
      </ul>
      <p className="fine muted">Visitors who have not come in these days are not in here.</p>
    </>
  );
}

function namesOf(ids: readonly string[], edges: EdgeNames): string {
  return ids.map((id) => edges.nameOf(id, shortId(id))).join(', ');
}

function TurnedSection({
  turned,
  least,
  words,
  tone,
  note,
}: {
  readonly turned: Turned;
  readonly least: string;
  readonly words: string;
  readonly tone: Tone;
  readonly note: string;
}) {
  const edges = useEdges();
  const shown = turned.visitors.slice(0, mostShown);
  const more = turned.visitors.length - shown.length;
  return (
    <section className="stack tight" aria-label={words}>
      <div className="group-h">
        <h3>
          <Verdict tone={tone}>{words}</Verdict>
        </h3>
        <span className="n">{least}</span>
      </div>
      <p className="fine soft">{note}</p>
      <ul className="srcs">
        {shown.map(({ client_ip: ip, person, requests, edge_ids: edgeIds, last_at: lastAt, reason }) => (
          <li key={`${ip} ${person ?? ''}`} title={visible(reason)}>
            <Link className="mono" to={pastRequests({ source: ip })}>
              {ip}
            </Link>
            <span className="num">{formatNumber(requests)}</span>
            <span className="sub">
              {person === undefined ? null : (
                <>
                  <Strange text={person} /> ·{' '}
                </>
              )}
              {namesOf(edgeIds, edges)}
            </span>
            <span className="sub num">
              <Time at={lastAt} />
            </span>
          </li>
        ))}
        {more > 0 ? (
          <li className="more">
            <button type="button" className="link" onClick={() => save(words, turned)}>
              and {formatNumber(more)} more: export {formatNumber(turned.visitors.length)} as CSV
            </button>
          </li>
        ) : null}
      </ul>
    </section>
  );
}

/** Visitors that a section names. */
const mostShown = 20;

function save(words: string, { visitors }: Turned): void {
  saveCsv(`gatehouse-${words.toLowerCase().replaceAll(' ', '-')}.csv`, [
    ['client_ip', 'person', 'requests', 'last_at', 'edge_ids', 'reason'],
    ...visitors.map(({ client_ip: ip, person = '', requests, last_at: lastAt, edge_ids: edgeIds, reason }) => [
      ip,
      person,
      String(requests),
      lastAt,
      edgeIds.join(' '),
      reason,
    ]),
  ]);
}

function NoDays() {
  return (
    <>
      <Banner note="Decisions about visitors are not kept on this installation.">
        No days are kept, so nobody can be named
      </Banner>
      <p className="soft">
        An operator has them kept from now on with this setting, on each process that carries traffic:
      </p>
      <Secret text="GATEHOUSE_DECISIONS=/var/lib/gatehouse/decisions" what="the setting" />
    </>
  );
}

/** What holds for all addresses, whoever has come. */
export function Proof({
  admitsNew,
  isWhole,
}: {
  readonly admitsNew: AdmitsNew | undefined;
  /** There is nothing else to go by. */
  readonly isWhole: boolean;
}) {
  if (admitsNew === undefined) return null;
  const { answer, admissions, total } = admitsNew;
  return (
    <section className="stack tight" aria-label="For all addresses">
      {isWhole ? <p className="soft">What can be said for all addresses:</p> : null}
      <ul className="rules">
        {answer === 'no' ? (
          <li>
            <Glyph tone="allow" />
            <span>No address gets in that is refused now</span>
          </li>
        ) : (
          admissions.map(({ to, answer: each, example, text }) => (
            <li key={to + text} title={text}>
              <Glyph tone={each === 'yes' ? 'warn' : 'off'} />
              <span>
                {each === 'yes' ? 'Newly let in: ' : 'Unknown: '}
                {placeWords(to)}
              </span>
              {example === null ? null : <span className="end mono">{example}</span>}
            </li>
          ))
        )}
        {total > admissions.length ? (
          <li>
            <span>and {formatNumber(total - admissions.length)} more places</span>
          </li>
        ) : null}
      </ul>
    </section>
  );
}
