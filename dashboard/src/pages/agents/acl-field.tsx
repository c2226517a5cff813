import { ApiError } from '../../../../client/src/index.ts';
import type { CallError } from '../../api/client.ts';
import { TextsField } from '../../components/list-fields.tsx';

/** Fields that errors are about, where their message does not say so in a word. */
export const credentialErrors = {
  20082: 'owner_id',
  20083: 'owner_id',
  20085: 'acl',
  20086: 'acl',
} as const;

/** Rules as they are sent: trimmed, without empty ones. */
export function aclOf(lines: readonly string[]): string[] {
  return lines.map((line) => line.trim()).filter((line) => line !== '');
}

/** What an agent with the token may bind. */
export function AclField({
  acl,
  onChange,
  error,
}: {
  readonly acl: readonly string[];
  readonly onChange: (acl: readonly string[]) => void;
  readonly error: CallError | undefined;
}) {
  const isMine = error instanceof ApiError && (error.number === 20_085 || error.number === 20_086);
  const line = isMine ? acl.findIndex((rule) => rule !== '' && error.message.includes(rule)) : -1;
  return (
    <TextsField
      label="May bind"
      noun="Rule"
      addWords="Add rule"
      placeholder="bind:*.example.com"
      hint="Such as bind:app.example.com, bind:tcp.example.com:10022 or bind:app=shop. Without a rule it may bind everything."
      texts={acl}
      onChange={onChange}
      error={isMine ? error.message : undefined}
      errorLine={line < 0 ? undefined : line}
    />
  );
}

/** The rules in a list; none allows everything. */
export function AclText({ acl: [first, ...rest] }: { readonly acl: readonly string[] }) {
  if (first === undefined) return <span className="soft">Everything</span>;
  return (
    <>
      <code className="main" title={[first, ...rest].join('\n')}>
        {first}
      </code>
      {rest.length === 0 ? null : <span className="sub">and {rest.length} more</span>}
    </>
  );
}
