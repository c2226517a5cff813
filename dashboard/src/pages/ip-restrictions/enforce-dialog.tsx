import { useState } from 'react';

import type { IpRestriction, Reply } from '../../../../client/src/index.ts';
import { client } from '../../api/client.ts';
import { useEdit } from '../../api/edit.ts';
import { useSession } from '../../api/session.ts';
import { Banner } from '../../components/banner.tsx';
import { Button } from '../../components/button.tsx';
import { Secret } from '../../components/copy.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Check } from '../../components/field.tsx';
import { EditProblem, isLockout } from '../../components/problem.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { Glyph } from '../../components/verdict.tsx';
import { restrictionName } from '../../lib/text.ts';
import { addressesOf, callsOf, refusals } from './restriction-words.ts';
import type { Source, Standing } from './standing.ts';
import { useAllowMe } from './use-allow-me.tsx';
import { useMyself } from './you-stay.tsx';

/** Undecided addresses that are named one by one. */
const mostNamed = 6;

/** From warning to enforced. Whom it hits is named; as long as somebody is undecided, a deliberate tick is asked for. */
export function EnforceDialog({
  seen,
  reread,
  standing,
  onClose,
}: {
  readonly seen: Reply<IpRestriction>;
  readonly reread: () => Promise<Reply<IpRestriction>>;
  /** Undefined where the warnings could not be read: then nothing is known, which asks for the tick as well. */
  readonly standing: Standing | undefined;
  readonly onClose: () => void;
}) {
  const restriction = seen.document;
  const { id, type } = restriction;
  const [isMeant, setMeant] = useState(false);
  const edit = useSwitch(seen, reread, true, onClose);
  const allowMe = useAllowMe(restriction.ip_policies[0]?.id, () => void edit.save());
  const question = questionOf(standing);
  const myself = useMyself(restriction);
  // Blue is for what nobody loses by.
  const isRisky = question !== undefined || isLockout(edit.error) || (myself.isKnown && !myself.staysIn);
  return (
    <Dialog
      title={`Enforce “${restrictionName(restriction)}”?`}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose} startsFocused>
            Keep warning
          </Button>
          <Button
            {...(isRisky ? { look: 'danger-quiet' as const } : { look: 'primary' as const })}
            disabled={edit.isPending || (question !== undefined && !isMeant)}
            onClick={() => void edit.save()}
          >
            Enforce now
          </Button>
        </>
      }
    >
      <p className="soft">
        From the next {callsOf(1, type).slice(2)} on, {refusals[type]} every address that its policies do not allow.
      </p>
      <Hit restriction={restriction} standing={standing} />
      {question === undefined ? null : (
        <Check isOn={isMeant} onChange={setMeant}>
          {question}
        </Check>
      )}
      <EditProblem edit={edit} onAllow={allowMe.run} />
      {allowMe.problem}
      <Banner>
        <span>To go back, turn it to warning here, or run on the host</span>
        <Secret text={`gatehouse restrictions disable ${id}`} what="the command" />
      </Banner>
    </Dialog>
  );
}

/** The way back: from enforced to warning. */
export function WarnDialog({
  seen,
  reread,
  onClose,
}: {
  readonly seen: Reply<IpRestriction>;
  readonly reread: () => Promise<Reply<IpRestriction>>;
  readonly onClose: () => void;
}) {
  const edit = useSwitch(seen, reread, false, onClose);
  return (
    <Dialog
      title={`Turn “${restrictionName(seen.document)}” back to warning?`}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose} startsFocused>
            Keep it enforced
          </Button>
          <Button look="primary" disabled={edit.isPending} onClick={() => void edit.save()}>
            Turn to warning
          </Button>
        </>
      }
    >
      <p>
        Addresses that it refuses get in from now on, as far as nothing else refuses them. It goes on to warn of them.
      </p>
      <EditProblem edit={edit} />
    </Dialog>
  );
}

/** An edit of the one field that says whether it is enforced. */
function useSwitch(
  seen: Reply<IpRestriction>,
  reread: () => Promise<Reply<IpRestriction>>,
  isOn: boolean,
  onClose: () => void,
) {
  const { id } = seen.document;
  return useEdit({
    seen,
    reread,
    toValues: ({ enforced }: IpRestriction) => ({ enforced }),
    start: { enforced: isOn },
    send: (body, options) => client.call('IpRestrictionsUpdate', { path: { id }, body, ...options }),
    onSaved: () => {
      toast(`${restrictionName(seen.document)} ${isOn ? 'is enforced' : 'only warns'}.`);
      onClose();
    },
  });
}

/** Undefined where everybody is decided and a day was watched. */
function questionOf(standing: Standing | undefined): string | undefined {
  if (standing === undefined) return 'Enforce without knowing whom it refuses: the warnings could not be read.';
  const { undecided, isTooEarly } = standing;
  const [first] = undecided;
  if (first !== undefined) {
    return undecided.length === 1
      ? `Refuse ${first.ip} as well, which nobody has decided on.`
      : `Refuse the ${addressesOf(undecided.length)} as well that nobody has decided on.`;
  }
  return isTooEarly ? 'Enforce after less than a day of watching: it has not seen who comes at night.' : undefined;
}

function Hit({
  restriction,
  standing,
}: {
  readonly restriction: IpRestriction;
  readonly standing: Standing | undefined;
}) {
  const { address } = useSession();
  const myself = useMyself(restriction);
  // Your own address has a line of its own.
  const undecided = standing?.undecided.filter(({ ip }) => !myself.isKnown || ip !== address) ?? [];
  const refused = standing?.refusedOnPurpose.length ?? 0;
  const isNobody = standing !== undefined && standing.undecided.length === 0 && refused === 0;
  return (
    <ul className="rules">
      {undecided.slice(0, mostNamed).map((source) => (
        <UndecidedLine key={source.ip} source={source} type={restriction.type} />
      ))}
      {undecided.length > mostNamed ? (
        <li>
          <Glyph tone="warn" />
          <span>and {addressesOf(undecided.length - mostNamed)} more that are undecided</span>
        </li>
      ) : null}
      {refused === 0 ? null : (
        <li>
          <Glyph tone="deny" />
          <span className="soft">{addressesOf(refused)} that you chose to refuse</span>
        </li>
      )}
      {isNobody ? (
        <li>
          <Glyph tone="allow" />
          <span>In the last 7 days, it would have refused nobody</span>
        </li>
      ) : null}
      {myself.isKnown ? (
        <li>
          <Glyph tone={myself.staysIn ? 'allow' : 'deny'} />
          <span className="mono">{address}</span>
          <span>{myself.staysIn ? 'you stay in' : 'you would be refused'}</span>
          <span className="end">{myself.rule?.cidr ?? 'no rule contains it'}</span>
        </li>
      ) : null}
    </ul>
  );
}

function UndecidedLine({ source, type }: { readonly source: Source; readonly type: IpRestriction['type'] }) {
  return (
    <li>
      <Glyph tone="warn" label="Undecided" />
      <span className="mono">{source.ip}</span>
      <span className="end">
        {callsOf(source.count, type)}, <Time at={source.last_at} />
      </span>
    </li>
  );
}
