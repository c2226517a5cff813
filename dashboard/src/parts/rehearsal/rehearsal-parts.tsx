import { Link } from 'wouter';

import { useSession } from '../../api/session.ts';
import { Banner } from '../../components/banner.tsx';
import { Secret } from '../../components/copy.tsx';
import { Strange } from '../../components/strange.tsx';
import { Time } from '../../components/time.tsx';
import { Glyph, Verdict } from '../../components/verdict.tsx';
import { countOf, formatNumber } from '../../lib/text.ts';
import { useEdges } from '../edge-names.ts';
import { pastRequests } from '../past-requests.ts';
import { isAmong, isAtLeast } from './rehearsal.ts';
import type { AdmitsNew, Rehearsal, Turned } from './rehearsal.ts';
import { placeWords, shareWords, sourcesOf, triedWords } from './rehearsal-words.ts';

/** Visitors of the kept days whose verdict would be another one. */
export function Visits({ what, visits }: { readonly what: string; readonly visits: Rehearsal['visits'] }) {
  const { address } = useSession();
  if (visits === 'not_kept') return <NoDays />;
  if (visits === 'not_tried') {
    return (
      <Banner note="Only what holds for all addresses is told.">
        This change was not tried on past requests, so nobody can be named
      </Banner>
    );
  }
  const { refused, admitted, gateways, unknown } = visits;
  const isLeast = isAtLeast(visits);
  const isNobody = refused.sources === 0 && admitted.sources === 0;
  const others = visits.requests - refused.requests - admitted.requests - unknown;
  return (
    <>
      {isAmong(refused, address) ? (
        <Banner tone="deny" note="You are among those who come to these edges.">
          You would be refused from <code>{address}</code>.
        </Banner>
      ) : null}
      {gateways.missing.length === 0 ? null : (
        <Banner tone="warn" note="Figures can only grow.">
          {gateways.missing.join(', ')} {gateways.missing.length === 1 ? 'does' : 'do'} not answer.
        </Banner>
      )}
      {isNobody ? (
        <Banner
          tone={isLeast || unknown > 0 ? 'off' : 'allow'}
          note={`${countOf(visits.requests - unknown, 'request keeps its verdict', 'requests keep their verdict')}.`}
        >
          {isLeast || unknown > 0 ? 'Nobody who is known' : 'Nobody of the days that are kept'}
        </Banner>
      ) : null}
      <p className="soft">{triedWords(what, visits)}</p>
      {refused.sources === 0 ? null : (
        <TurnedSection
          turned={refused}
          isLeast={isLeast}
          words="Newly refused"
          tone="deny"
          note={`${countOf(refused.requests, 'request', 'requests')}, ${shareWords(refused.requests, visits.requests)} of them`}
        />
      )}
      {admitted.sources === 0 ? null : (
        <TurnedSection
          turned={admitted}
          isLeast={isLeast}
          words="Newly admitted"
          tone="allow"
          note={`${countOf(admitted.requests, 'request that was', 'requests that were')} refused until now`}
        />
      )}
      {unknown === 0 ? null : (
        <Banner tone="warn" note={visits.unknownBecause.join(', ')}>
          {countOf(unknown, 'request cannot', 'requests cannot')} be told: something decides that is not kept
        </Banner>
      )}
      {isNobody ? null : (
        <ul className="rules">
          <li>
            <Glyph tone="off" />
            <span>All others: the same verdict as now</span>
            <span className="end">{countOf(Math.max(0, others), 'request', 'requests')}</span>
          </li>
        </ul>
      )}
      <p className="fine muted">Visitors who have not come in these days are not in here.</p>
    </>
  );
}

function TurnedSection({
  turned,
  isLeast,
  words,
  tone,
  note,
}: {
  readonly turned: Turned;
  readonly isLeast: boolean;
  readonly words: string;
  readonly tone: 'allow' | 'deny';
  readonly note: string;
}) {
  const edges = useEdges();
  const more = turned.sources - turned.first.length;
  return (
    <section className="stack tight" aria-label={words}>
      <div className="group-h">
        <h3>
          <Verdict tone={tone}>{words}</Verdict>
        </h3>
        <span className="n">
          {isLeast ? 'at least ' : ''}
          {sourcesOf(turned)}
        </span>
      </div>
      <p className="fine soft">{note}</p>
      <ul className="srcs">
        {turned.first.map(({ ip, requests, edgeIds, person, lastAt }) => (
          <li key={ip}>
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
              {edgeIds.map((id) => edges.nameOf(id, id)).join(', ')}
            </span>
            <span className="sub num">
              <Time at={lastAt} />
            </span>
          </li>
        ))}
        {more > 0 ? <li className="more">and {formatNumber(more)} more</li> : null}
      </ul>
    </section>
  );
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
                {each === 'yes' ? 'Newly let in: ' : 'Cannot be told: '}
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
