import { visible } from '../lib/strangers.ts';

/** A text that a visitor has chosen, such as a path: set apart, so that it cannot change how others read. Whole on hover. */
export function Strange({ text, isMono = false }: { readonly text: string; readonly isMono?: boolean }) {
  const shown = visible(text);
  return (
    <bdi className={isMono ? 'mono' : undefined} title={shown}>
      {shown}
    </bdi>
  );
}
