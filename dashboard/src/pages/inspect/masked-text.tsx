import { visible } from '../../lib/strangers.ts';

const mask = '[masked]';

/** A text of a stranger as text: no markup, what hides is written out, and what was masked stands apart. */
export function MaskedText({ text }: { readonly text: string }) {
  // The pieces of one text never change their places.
  const pieces = text.split(mask).map((piece, at) => ({ piece, key: String(at) }));
  return (
    <bdi>
      {pieces.map(({ piece, key }) => (
        <span key={key}>
          {key === '0' ? null : <span className="masked">masked</span>}
          {piece
            .split(/(\n|\t)/)
            .map((part) => (part === '\n' || part === '\t' ? part : visible(part)))
            .join('')}
        </span>
      ))}
    </bdi>
  );
}

export function isMasked(text: string): boolean {
  return text.includes(mask);
}
