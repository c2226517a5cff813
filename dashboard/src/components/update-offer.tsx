import { useServerBuild } from '../api/server-build.ts';
import { reloadWithInput } from '../lib/kept-input.ts';
import { Banner } from './banner.tsx';
import { Button } from './button.tsx';

/** Says that the server has other code than this tab, and offers to load it. */
export function UpdateOffer() {
  if (useServerBuild() !== 'another') return null;
  return (
    <Banner
      tone="warn"
      note="Reload opens the same page. What you typed is kept, except secrets."
      actions={
        <Button small onClick={reloadWithInput}>
          Reload
        </Button>
      }
    >
      Gatehouse was updated since this tab was opened.
    </Banner>
  );
}
