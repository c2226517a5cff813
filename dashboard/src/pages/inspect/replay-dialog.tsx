import { useState } from 'react';

import type { InspectionReplay } from '../../../../client/src/index.ts';
import type { CallError } from '../../api/client.ts';
import { Banner } from '../../components/banner.tsx';
import { TextField } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { isMasked } from './masked-text.tsx';
import type { Inspected } from './use-inspection.ts';

/** Changes a request before it is sent again. What was masked is typed anew, or left out. */
export function ReplayDialog({
  request,
  isPending,
  error,
  onSend,
  onClose,
}: {
  readonly request: Inspected;
  readonly isPending: boolean;
  readonly error: CallError | undefined;
  readonly onSend: (changes: Omit<InspectionReplay, 'request_id'>) => void;
  readonly onClose: () => void;
}) {
  const [method, setMethod] = useState(request.method);
  const [target, setTarget] = useState(request.target);
  const [headers, setHeaders] = useState(linesOf(request));
  const [body, setBody] = useState(request.request.body ?? '');
  const pairs = pairsOf(headers);
  const hasMasked = isMasked(target) || isMasked(headers) || isMasked(body);
  return (
    <FormDialog
      title={`Edit and replay ${request.method}`}
      act="Send 1 request"
      cancel="Discard"
      large
      isPending={isPending}
      error={error}
      missing={
        isMasked(body) ? 'Type the masked values of the body' : pairs === undefined ? 'Mend a header' : undefined
      }
      onSubmit={() => onSend({ method, target: withoutMasked(target), headers: pairs ?? [], body })}
      onClose={onClose}
    >
      <TextField label="Method" mono value={method} onChange={setMethod} startsFocused />
      <TextField label="Path and query" mono value={target} onChange={setTarget} />
      <TextField
        label="Headers"
        note="one on each line; Host and the length stay right by themselves"
        mono
        rows={7}
        value={headers}
        onChange={setHeaders}
        error={pairs === undefined ? 'Each line is a name, a colon and a value.' : undefined}
      />
      <TextField label="Body" mono rows={9} value={body} onChange={setBody} limitBytes={32_768} />
      {hasMasked ? (
        <Banner tone="warn">
          Masked values are not kept: type them, or the header or parameter is left out. A signature must fit what you
          send.
        </Banner>
      ) : null}
      <Banner>
        It goes the way of a request of yours, from your address: every rule is asked. It carries Gatehouse-Replay;
        redirects are shown, not followed.
      </Banner>
    </FormDialog>
  );
}

const connectionNames = new Set(['host', 'content-length', 'connection', 'transfer-encoding', 'content-encoding']);

function linesOf({ request }: Inspected): string {
  return request.headers
    .filter(({ name }) => !connectionNames.has(name.toLowerCase()))
    .map(({ name, value }) => `${name}: ${value}`)
    .join('\n');
}

function pairsOf(text: string): { name: string; value: string }[] | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.some((line) => line.indexOf(':') < 1)) return undefined;
  return lines.map((line) => {
    const colon = line.indexOf(':');
    return { name: line.slice(0, colon).trim(), value: line.slice(colon + 1).trim() };
  });
}

function withoutMasked(target: string): string {
  const mark = target.indexOf('?');
  if (mark < 0 || !isMasked(target)) return target;
  const kept = target
    .slice(mark + 1)
    .split('&')
    .filter((field) => !isMasked(field));
  return kept.length === 0 ? target.slice(0, mark) : `${target.slice(0, mark)}?${kept.join('&')}`;
}
