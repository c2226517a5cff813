import type { ReactNode } from 'react';
import { Link } from 'wouter';

import type { Decision } from '../../../../client/src/index.ts';
import { useOne } from '../../api/queries.ts';
import { ButtonLink } from '../../components/button.tsx';
import { CopyLink } from '../../components/copy.tsx';
import { useCrumb } from '../../components/crumb.tsx';
import { PageHead } from '../../components/page.tsx';
import { ErrorState, Skeleton } from '../../components/states.tsx';
import { Strange } from '../../components/strange.tsx';
import { VerdictBox } from '../../components/verdict.tsx';
import { visible } from '../../lib/strangers.ts';
import { formatNumber, shortId } from '../../lib/text.ts';
import { formatMoment } from '../../lib/time.ts';
import { useNames } from '../../parts/names.ts';
import { formatMs, verdictTones } from '../../parts/traffic-words.ts';
import { AroundIt } from './around-it.tsx';
import { AskId } from './ask-id.tsx';
import { causeOf, notKept } from './cause.ts';
import { requestOf } from './columns.tsx';
import { NotFound } from './not-found.tsx';
import { NotKept } from './not-kept.tsx';
import { ThenNow, todayWords } from './then-now.tsx';
import { useDecision } from './use-decision.ts';

/** One past request: what was decided, and by what. */
export function OneRequest({ id }: { readonly id: string }) {
  const { data, error, retry } = useDecision(id);
  useCrumb(shortId(id));
  const whyNone = data?.told.not_kept;
  return (
    <>
      <PageHead
        title="Past requests"
        lead="Why a visitor was let in or refused. The page that refuses somebody shows the id of the request."
      />
      <AskId id={id} />
      {data === undefined ? (
        error === undefined ? (
          <Skeleton lines={6} />
        ) : (
          <section className="panel">
            <ErrorState title="The request could not be read" error={error} onRetry={retry} />
          </section>
        )
      ) : whyNone !== undefined ? (
        <NotKept why={whyNone} />
      ) : data.decision === undefined ? (
        <NotFound id={id} told={data.told} />
      ) : (
        <Explained decision={data.decision} gateway={data.decision.gateway} />
      )}
    </>
  );
}

function Explained({ decision, gateway }: { readonly decision: Decision; readonly gateway: string }) {
  const names = useNames();
  const { verdict, at, client_ip: ip, person, host, protocol, worker, configuration_version: version } = decision;
  const cause = causeOf(decision, names);
  const explained = useOne('DecisionsExplain', { path: { id: decision.id } });
  const told = explained.data?.document;
  const today = told === undefined ? '' : `. ${todayWords(told)}`;
  return (
    <>
      <VerdictBox
        tone={verdictTones[verdict]}
        title={`${titleWords[verdict]} on ${formatMoment(at, Number.NaN)}${today}`}
        reason={cause === undefined ? undefined : <Reason decision={decision} />}
        actions={
          <>
            <ButtonLink to={`/who-gets-in?ip=${encodeURIComponent(ip)}`}>Who gets in from here</ButtonLink>
            <CopyLink />
          </>
        }
      >
        <div className="stats wrapping">
          <Fact name="Request">
            <Strange isMono text={requestOf(decision)} />
          </Fact>
          {host === undefined ? null : (
            <Fact name="Host">
              <Strange isMono text={host} />
            </Fact>
          )}
          <Fact name="Source">
            <code>{ip}</code>
          </Fact>
          {person === undefined ? null : (
            <Fact name="Signed in as">
              <Strange text={person} />
            </Fact>
          )}
          <Fact name="Gateway">
            {[
              gateway === undefined ? 'not known' : shortId(gateway),
              worker === undefined ? '' : `worker ${worker}`,
              protocol === undefined ? '' : `HTTP/${protocol}`,
            ]
              .filter((part) => part !== '')
              .join(', ')}
          </Fact>
          <Fact name="Configuration then">
            {version === undefined ? 'not known' : `version ${formatNumber(version)}`}
          </Fact>
        </div>
      </VerdictBox>
      <ThenNow decision={decision} explained={explained} />
      <AroundIt decision={decision} />
    </>
  );
}

const titleWords = { allowed: 'Let in', refused: 'Refused', warned: 'Let in, warned,' } as const;

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div>
      <span className="l">{name}</span>
      {children}
    </div>
  );
}

/** What decided, in a sentence. */
function Reason({ decision }: { readonly decision: Decision }) {
  const { verdict, client_ip: ip, status, duration_ms: ms } = decision;
  const cause = causeOf(decision, useNames());
  if (cause === undefined) return null;
  if (cause.text === notKept) return `${notKept}.`;
  const words = <bdi>{visible(cause.text)}</bdi>;
  return (
    <>
      {cause.to === undefined ? words : <Link to={cause.to}>{words}</Link>}{' '}
      {verdict === 'warned' ? 'would have refused' : 'refused'} <code>{ip}</code>
      {status === undefined || verdict === 'warned' ? '' : ` with ${status}`}
      {ms === undefined ? '' : `, after ${formatMs(ms)} ms`}.
    </>
  );
}
