import type { DecisionsPage } from '../../../../client/src/index.ts';
import { ButtonLink } from '../../components/button.tsx';
import { Empty } from '../../components/states.tsx';
import { visible } from '../../lib/strangers.ts';
import { countOf } from '../../lib/text.ts';
import { Incomplete } from './incomplete.tsx';

/** The request is not among those that are kept: why that can be. */
export function NotFound({ id, told }: { readonly id: string; readonly told: DecisionsPage }) {
  const { dropped, was_cut_off: wasCutOff } = told;
  return (
    <>
      <Incomplete told={told} />
      <section className="panel">
        <Empty
          icon="search"
          title="No request with this id is kept"
          action={<ButtonLink to="/requests">Show all past requests</ButtonLink>}
        >
          <code>{visible(id)}</code> is not among the decisions about visitors that are kept. They end after 7 days, or
          what GATEHOUSE_DECISIONS_DAYS says, and sooner where their room is full. An id that a call of the API has told
          is none of a visitor.
          {dropped === 0
            ? ''
            : ` It may be one of the ${countOf(dropped, 'decision', 'decisions')} that were not kept.`}
          {wasCutOff ? ' The search stopped after very many decisions: it may be among older ones.' : ''}
        </Empty>
      </section>
    </>
  );
}
