import type { DecisionsPage } from '../../../../client/src/index.ts';
import { gatewayName, useGateways } from '../../api/installation.ts';
import { Banner } from '../../components/banner.tsx';
import { countOf, shortId } from '../../lib/text.ts';

type State = DecisionsPage['gateways'][number]['state'];

/** The outcome of the question at a gateway that is not among the answers, to go on after its name. */
const words: Readonly<Record<Exclude<State, 'answered'>, string>> = {
  keeps_none: 'keeps no decisions (GATEHOUSE_DECISIONS)',
  busy: 'has other questions of this account to answer',
  failed: 'cannot read its decisions for now; its log has the cause',
  no_answer: 'does not answer',
  unreachable: 'cannot be reached from here (GATEHOUSE_LINK_LISTEN)',
  not_asked: 'was not asked: there are too many gateways',
};

/** Gateways that are named. */
const mostNamed = 5;

/** Says what is missing in what the gateways have told. */
export function Incomplete({ told }: { readonly told: DecisionsPage | undefined }) {
  const missing = useMissing(told);
  if (told === undefined) return null;
  const { dropped } = told;
  return (
    <>
      {missing.length === 0 ? null : (
        <Banner tone="warn" note={missing.slice(0, mostNamed).join(' ')}>
          {countOf(missing.length, 'gateway has', 'gateways have')} not told: their decisions are missing here
        </Banner>
      )}
      {dropped === 0 ? null : (
        <Banner tone="warn" note="More came than could be kept, or a disk was full. They are missing here.">
          {countOf(dropped, 'decision was', 'decisions were')} not kept since the gateways were started
        </Banner>
      )}
    </>
  );
}

/** A sentence for each gateway whose decisions are not among those that were told. */
function useMissing(told: DecisionsPage | undefined): readonly string[] {
  const all = useGateways()?.gateways ?? [];
  return (told?.gateways ?? []).flatMap(({ process_id: id, state }) => {
    if (state === 'answered') return [];
    const known = all.find((each) => each.id === id);
    return [`${known === undefined ? shortId(id) : gatewayName(known)} ${words[state]}.`];
  });
}
