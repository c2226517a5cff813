import type { DecisionsPage } from '../../../../client/src/index.ts';
import { Banner } from '../../components/banner.tsx';
import { countOf } from '../../lib/text.ts';

/** Says what is missing in what a gateway has told. */
export function Incomplete({ told }: { readonly told: DecisionsPage | undefined }) {
  if (told === undefined) return null;
  const { other_gateways: others, dropped } = told;
  return (
    <>
      {others === 0 ? null : (
        <Banner tone="warn" note="Theirs are missing in this list. Ask each of them by its own address.">
          Only the gateway that answers is shown, and {countOf(others, 'other carries', 'others carry')} traffic too.
        </Banner>
      )}
      {dropped === 0 ? null : (
        <Banner tone="warn" note="More came than could be kept, or the disk was full. They are missing in this list.">
          {countOf(dropped, 'decision was', 'decisions were')} not kept since the gateway was started.
        </Banner>
      )}
    </>
  );
}
