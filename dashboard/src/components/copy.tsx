import { useState } from 'react';

import { shortId } from '../lib/text.ts';
import { Icon } from './icon.tsx';
import { Button } from './button.tsx';

/** Returns the function that copies, and whether it did within the last two seconds. */
function useCopy(): [copied: boolean, copy: (text: string) => void] {
  const [isCopied, setCopied] = useState(false);
  const copy = (text: string): void => {
    void copyText(text).then(() => {
      setCopied(true);
      setTimeout(() => setCopied(false), 2000);
    });
  };
  return [isCopied, copy];
}

/** The clipboard's API exists only under TLS and on localhost, and may be denied; a selected field works everywhere. */
export async function copyText(text: string): Promise<void> {
  // The type does not know that it may be missing.
  const clipboard = navigator.clipboard as Clipboard | undefined;
  const isCopied = await clipboard?.writeText(text).then(
    () => true,
    () => false,
  );
  if (isCopied !== true) copyByField(text);
}

function copyByField(text: string): void {
  const field = document.createElement('textarea');
  field.value = text;
  const parent = document.querySelector('dialog[open]') ?? document.body;
  parent.append(field);
  field.select();
  document.execCommand('copy');
  field.remove();
}

export function CopyButton({ text, what = text }: { readonly text: string; readonly what?: string }) {
  const [isCopied, copy] = useCopy();
  return (
    <button
      type="button"
      className="copy"
      aria-label={isCopied ? 'Copied' : `Copy ${what}`}
      onClick={(event) => {
        event.stopPropagation();
        copy(text);
      }}
    >
      <Icon name={isCopied ? 'check' : 'copy'} />
    </button>
  );
}

/** An id cut in the middle: whole on hover, copied whole. */
export function Id({
  id,
  muted = false,
  whole = false,
}: {
  readonly id: string;
  readonly muted?: boolean;
  readonly whole?: boolean;
}) {
  return (
    <span className={muted ? 'id muted' : 'id'} title={id} data-copy-id={id}>
      <span>{whole ? id : shortId(id)}</span>
      <CopyButton text={id} />
    </span>
  );
}

/** A text that is copied as a whole: a command, a token. */
export function Secret({
  text,
  what,
  isMain = false,
}: {
  readonly text: string;
  readonly what: string;
  readonly isMain?: boolean;
}) {
  const [isCopied, copy] = useCopy();
  return (
    <div className="secret">
      <code>{text}</code>
      {isMain ? (
        <Button small look="primary" icon={isCopied ? 'check' : 'copy'} onClick={() => copy(text)}>
          {isCopied ? 'Copied' : 'Copy'}
        </Button>
      ) : (
        <CopyButton text={text} what={what} />
      )}
    </div>
  );
}

/** Copies the address of the page, which shows the same to a colleague. */
export function CopyLink() {
  const [isCopied, copy] = useCopy();
  return (
    <Button icon={isCopied ? 'check' : 'link'} onClick={() => copy(location.href)}>
      {isCopied ? 'Copied' : 'Copy link'}
    </Button>
  );
}
