import { useState } from 'react';
import { Link } from 'wouter';

import type { InspectionReplay, InspectionReplayed } from '../../../../client/src/index.ts';
import { client } from '../../api/client.ts';
import { useAct } from '../../api/queries.ts';
import { gatewayName, useGateways } from '../../api/installation.ts';
import { Banner } from '../../components/banner.tsx';
import { Button, ButtonGroup } from '../../components/button.tsx';
import { Facts } from '../../components/page.tsx';
import { Problem } from '../../components/problem.tsx';
import { Sheet } from '../../components/sheet.tsx';
import { Strange } from '../../components/strange.tsx';
import { formatSeconds } from '../../lib/time.ts';
import { visible } from '../../lib/strangers.ts';
import { explanationOf } from '../../parts/past-requests.ts';
import { formatMs } from '../../parts/traffic-words.ts';
import { Message } from './message.tsx';
import { ReplayDialog } from './replay-dialog.tsx';
import type { Inspected } from './use-inspection.ts';

type Changes = Omit<InspectionReplay, 'request_id'>;

/** One recorded request with its answer, and the ways to send it again. */
export function RequestSheet({
  inspectionId,
  request,
  onClose,
  onSent,
}: {
  readonly inspectionId: string;
  readonly request: Inspected;
  readonly onClose: () => void;
  readonly onSent: () => void;
}) {
  const [part, setPart] = useState<'request' | 'answer'>('request');
  const [isEditing, setEditing] = useState(false);
  const [sent, setSent] = useState<InspectionReplayed>();
  const gateway = useGateways()?.gateways.find(({ id }) => id === request.process_id);
  const replay = useAct((changes: Changes) =>
    client.call('InspectionsReplay', { path: { id: inspectionId }, body: { request_id: request.id, ...changes } }),
  );
  const send = async (changes: Changes): Promise<void> => {
    const answer = await replay.run(changes);
    if (answer === undefined) return;
    setSent(answer);
    setEditing(false);
    onSent();
  };
  const status = request.answer?.status;
  return (
    <Sheet
      title={`${visible(request.method)} ${visible(request.target.slice(0, 60))} · ${status ?? 'no answer'}`}
      onClose={onClose}
    >
      <div className="row wrap">
        <Button look="primary" shortcut="r" disabled={replay.isPending} onClick={() => void send({})}>
          Replay as it was
        </Button>
        <Button shortcut="R" onClick={() => setEditing(true)}>
          Edit and replay…
        </Button>
      </div>
      {isEditing ? null : <Problem error={replay.error} />}
      {sent === undefined ? null : <Sent sent={sent} />}
      <Facts
        list
        facts={[
          ['From', <code key="from">{request.client_ip}</code>],
          ['To', <Strange key="to" text={request.host} isMono />],
          ['Path', <Strange key="path" text={request.target} isMono />],
          ['At', `${formatSeconds(request.at)}${gateway === undefined ? '' : ` on ${gatewayName(gateway)}`}`],
          ['Took', `${formatMs(request.duration_ms)} ms${request.is_whole ? '' : ', cut off'}`],
          ['Checks', <CheckLink key="checks" id={request.id} />],
          request.replay_of === undefined ? undefined : ['Replay of', <code key="of">{request.replay_of.id}</code>],
        ]}
      />
      <ButtonGroup
        label="Part"
        value={part}
        options={[
          ['request', 'Request'],
          ['answer', status === undefined ? 'Answer' : `Answer ${status}`],
        ]}
        onChange={setPart}
      />
      {part === 'request' ? (
        <Message key="request" message={request.request} what="request" />
      ) : request.answer === undefined ? (
        <p className="muted">The backend gave none.</p>
      ) : (
        <Message key="answer" message={request.answer} what="answer" />
      )}
      {isEditing ? (
        <ReplayDialog
          request={request}
          isPending={replay.isPending}
          error={replay.error}
          onSend={(changes) => void send(changes)}
          onClose={() => setEditing(false)}
        />
      ) : null}
    </Sheet>
  );
}

function CheckLink({ id }: { readonly id: string }) {
  return <Link to={explanationOf({ id })}>What was decided, and why</Link>;
}

/** The outcome of a replay. One that a check has refused is not in the list. */
function Sent({ sent }: { readonly sent: InspectionReplayed }) {
  const { answer, id, duration_ms: ms, left_out: leftOut } = sent;
  return (
    <Banner
      tone={answer === undefined || answer.status >= 400 ? 'warn' : 'allow'}
      note={
        <>
          {leftOut.length === 0 ? null : `Left out, because it was masked: ${leftOut.map(visible).join(', ')}. `}
          <CheckLink id={id} />
        </>
      }
    >
      {answer === undefined
        ? 'Replayed: no answer within ten seconds.'
        : `Replayed: ${answer.status} in ${formatMs(ms)} ms.`}
    </Banner>
  );
}
