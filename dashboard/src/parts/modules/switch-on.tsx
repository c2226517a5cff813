import { useState } from 'react';
import { useLocation } from 'wouter';

import type { IpCheckVerdict } from '../../../../client/src/index.ts';
import { demanding, useAction } from '../../api/action.ts';
import { client } from '../../api/client.ts';
import { useList, useOne } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { ActProblem } from '../../components/problem.tsx';
import { useMayWrite } from '../../components/rights.tsx';
import { toast } from '../../components/toast.tsx';
import { Glyph, Verdict } from '../../components/verdict.tsx';
import { nameOf } from '../../lib/text.ts';
import { rehearse } from '../rehearsal/rehearse.ts';
import { useRehearsal } from '../rehearsal/use-rehearsal.tsx';
import { policyIdsIn } from './ip-restriction.tsx';
import type { ModuleKind } from './kind.ts';
import { viewOf } from './target.ts';
import type { ModuleTarget } from './target.ts';

/** Shows who gets in, before an IP restriction refuses anybody: it has no mode that only warns. */
export function SwitchOnDialog({
  target,
  module,
  kind,
  onClose,
}: {
  readonly target: ModuleTarget;
  readonly module: string;
  readonly kind: ModuleKind;
  readonly onClose: () => void;
}) {
  const { address } = useSession();
  const [tried, setTried] = useState<readonly string[]>([address]);
  const [typed, setTyped] = useState('');
  const action = useAction();
  const view = viewOf(target.document, module);
  const settingsOn = () => kind.toSettings({ ...kind.toValues(view), enabled: true });
  const rehearsal = useRehearsal({
    needsVisits: true,
    subject: JSON.stringify(view),
    what: 'Switching it on',
    rehearse: async (signal) => rehearse(target.callToSet(module, await settingsOn()), signal),
    save: () => void switchOn(),
    isSaving: action.isPending,
    error: action.error,
  });
  const switchOn = async (): Promise<void> => {
    const settings = await settingsOn();
    if (!(await action.run(() => target.set(module, settings, demanding(target.reply.etag))))) return;
    toast('The IP restriction is on.');
    onClose();
  };
  const add = (): void => {
    const ip = typed.trim();
    if (ip === '') return;
    setTried((before) => [ip, ...before.filter((each) => each !== ip)]);
    setTyped('');
  };
  return (
    <Dialog
      title={`Who gets in at ${target.words}?`}
      onClose={onClose}
      beside={rehearsal.sheet}
      footer={
        <>
          <Button onClick={onClose} startsFocused>
            Keep it off
          </Button>
          <Button look="primary" disabled={action.isPending} onClick={rehearsal.open}>
            {rehearsal.shows ? 'See who would notice' : 'Switch on'}
          </Button>
        </>
      }
    >
      <p className="soft">
        From the moment it is on, everybody else is refused. Try the addresses that have to get in; nothing is changed
        by that.
      </p>
      <Form label="Try an address" onSubmit={add}>
        <div className="row end">
          <div className="grow">
            <TextField label="Address" mono placeholder="203.0.113.7" value={typed} onChange={setTyped} />
          </div>
          <Button type="submit">Try it</Button>
        </div>
      </Form>
      <ul className="rules">
        {tried.map((ip) => (
          <Tried key={ip} ip={ip} target={target} isMine={ip === address} />
        ))}
      </ul>
      <SofterWay ids={policyIdsIn(view)} />
      <ActProblem error={action.error} />
    </Dialog>
  );
}

function Tried({
  ip,
  target,
  isMine,
}: {
  readonly ip: string;
  readonly target: ModuleTarget;
  readonly isMine: boolean;
}) {
  const { data, error } = useOne('IpCheck', { body: { ip, ...target.checkedBy } });
  const { data: policies = [] } = useList('IpPoliciesList');
  if (error !== undefined) {
    return (
      <li>
        <Glyph tone="deny" />
        <span className="grow">{error.message}</span>
      </li>
    );
  }
  if (data === undefined) return <li className="muted">{ip}</li>;
  const { isLetIn, rule, isRefusedBefore } = verdictOf(data.document);
  const policy = rule === null ? undefined : policies.find(({ id }) => id === rule.ip_policy.id);
  return (
    <li>
      <Verdict tone={isLetIn ? 'allow' : 'deny'}>{isLetIn ? 'Let in' : 'Refused'}</Verdict>
      <code className="mono">{data.document.ip}</code>
      {isMine ? <span>you</span> : null}
      <span className="end">
        {isRefusedBefore
          ? 'an IP restriction of the account refuses it already'
          : rule === null
            ? 'no rule contains it'
            : `${rule.action === 'allow' ? 'Allow' : 'Deny'} ${rule.cidr}${policy === undefined ? '' : `, ${nameOf(policy)}`}`}
      </span>
    </li>
  );
}

/** Verdict with the module switched on: a module that is off still tells which rule decides. */
function verdictOf({ checks, allowed }: IpCheckVerdict): {
  isLetIn: boolean;
  isRefusedBefore: boolean;
  rule: IpCheckVerdict['checks'][number]['rule'];
} {
  const module = checks.find(({ kind }) => kind === 'module');
  const rule = module?.rule ?? null;
  return { isLetIn: allowed && rule?.action === 'allow', isRefusedBefore: !allowed, rule };
}

/** Puts the policies into a restriction that refuses nobody and counts who would be. */
function SofterWay({ ids }: { readonly ids: readonly string[] }) {
  const [, navigate] = useLocation();
  const action = useAction();
  const mayWrite = useMayWrite('admins');
  const warnFirst = async (): Promise<void> => {
    let made = '';
    const create = async (): Promise<void> => {
      const { id } = await client.call('IpRestrictionsCreate', {
        body: { type: 'endpoints', enforced: false, ip_policy_ids: [...ids] },
      });
      made = id;
    };
    if (!(await action.run(create))) return;
    toast('The restriction warns from now on.');
    navigate(`/ip-restrictions/${made}`);
  };
  return (
    <div className="stack tight">
      <span className="label">Not sure who comes here?</span>
      <p className="soft">
        An IP restriction of the type endpoints, with the same policies, can warn first: it refuses nobody and shows
        whom it would refuse. It watches every edge of the account, not only this one.
      </p>
      {mayWrite ? (
        <div>
          <Button small onClick={() => void warnFirst()} disabled={action.isPending}>
            Warn first instead
          </Button>
        </div>
      ) : (
        <p className="muted">Only an admin can make one.</p>
      )}
      <ActProblem error={action.error} />
    </div>
  );
}
