import { Link } from 'wouter';

import type { IpPolicy, Reply } from '../../../../client/src/index.ts';
import { useOne } from '../../api/queries.ts';
import { useCrumb } from '../../components/crumb.tsx';
import { Button } from '../../components/button.tsx';
import { Id } from '../../components/copy.tsx';
import { Detail } from '../../components/detail.tsx';
import { Facts, PageHead, Panel } from '../../components/page.tsx';
import { LookOnly, useMayWrite } from '../../components/rights.tsx';
import { Time } from '../../components/time.tsx';
import { Badge, Verdict } from '../../components/verdict.tsx';
import { countOf, formatNumber, nameOf } from '../../lib/text.ts';
import { useUrlState } from '../../lib/url-state.ts';
import { AddRule } from './add-rule.tsx';
import { DeletePolicy } from './delete-policy.tsx';
import { EditPolicy } from './edit-policy.tsx';
import { PasteList } from './paste-list.tsx';
import { usePolicyUses } from './policy-uses.ts';
import { RuleTable } from './rule-table.tsx';
import { useRules } from './use-rules.ts';
import type { Rules } from './use-rules.ts';

export function PolicyDetail({ id }: { readonly id: string }) {
  const read = useOne('IpPoliciesGet', { path: { id } });
  return (
    <Detail read={read} noun="policy" listPath="/ip-policies">
      {(reply) => <Shown reply={reply} reread={read.reread} />}
    </Detail>
  );
}

function Shown({
  reply,
  reread,
}: {
  readonly reply: Reply<IpPolicy>;
  readonly reread: () => Promise<Reply<IpPolicy>>;
}) {
  const policy = reply.document;
  const [params, setParams] = useUrlState();
  const mayWrite = useMayWrite();
  const rules = useRules(policy.id);
  const open = (name: string) => () => setParams({ [name]: '1' });
  const close = (name: string) => () => setParams({ [name]: undefined });
  const isOpen = (name: string) => params.has(name) && mayWrite;
  useCrumb(nameOf(policy));
  return (
    <>
      <PageHead
        title={nameOf(policy)}
        badge={rules.totals === undefined ? null : <Badge>{countOf(totalOf(rules), 'rule', 'rules')}</Badge>}
        lead="Deny wins over allow, whatever the order. What no rule allows is refused."
        actions={
          mayWrite ? (
            <>
              <Button look="primary" icon="paste" onClick={open('paste')}>
                Paste a list
              </Button>
              <Button icon="plus" shortcut="c" onClick={open('add')}>
                Add rule
              </Button>
              <Button icon="edit" shortcut="e" aria-label="Edit the policy" onClick={open('edit')} />
              <Button look="danger-quiet" icon="trash" aria-label="Delete the policy" onClick={open('delete')} />
            </>
          ) : undefined
        }
      />
      <LookOnly what="IP policies" />
      {isOpen('edit') ? (
        <EditPolicy seen={reply} reread={reread} onClose={close('edit')} />
      ) : (
        <PolicyFacts policy={policy} rules={rules} />
      )}
      <RuleTable rules={rules} mayWrite={mayWrite} onAdd={open('add')} />
      {isOpen('add') ? <AddRule policyId={policy.id} onClose={close('add')} /> : null}
      {isOpen('paste') ? <PasteList policy={policy} rules={rules} onClose={close('paste')} /> : null}
      {isOpen('delete') ? <DeletePolicy policy={policy} rules={rules} onClose={close('delete')} /> : null}
    </>
  );
}

function totalOf({ totals }: Rules): number {
  return (totals?.allow ?? 0) + (totals?.deny ?? 0);
}

function PolicyFacts({ policy, rules }: { readonly policy: IpPolicy; readonly rules: Rules }) {
  const uses = usePolicyUses()(policy.id);
  const { totals } = rules;
  return (
    <Panel>
      <Facts
        facts={[
          totals === undefined
            ? undefined
            : [
                'What it does',
                <span key="does" className="row wrap">
                  <Verdict tone="allow">{formatNumber(totals.allow)} allow</Verdict>
                  <Verdict tone="deny">{formatNumber(totals.deny)} deny</Verdict>
                </span>,
              ],
          [
            'Used by',
            uses.length === 0
              ? 'Nothing yet'
              : uses.slice(0, 5).map(({ to, name, note }) => (
                  <div key={to + name}>
                    <Link to={to}>{name}</Link> <span className="muted">{note}</span>
                  </div>
                )),
          ],
          ['Created', <Time key="at" at={policy.created_at} />],
          ['Id', <Id key="id" id={policy.id} />],
          policy.metadata === undefined ? undefined : ['Metadata', <code key="metadata">{policy.metadata}</code>],
        ]}
      />
    </Panel>
  );
}
