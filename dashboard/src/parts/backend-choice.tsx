import { useState } from 'react';

import { client } from '../api/client.ts';
import type { CallError } from '../api/client.ts';
import { fieldOfError } from '../api/field-errors.ts';
import { Check, SelectField, TextField } from '../components/field.tsx';
import { shortId } from '../lib/text.ts';
import { useBackends } from './backends.ts';

const noBackend = '';
const newBackend = 'new';

/** A backend that exists, or the address of one that is made when the form is sent. */
export interface BackendDraft {
  /** An id, '' for none, or 'new'. */
  readonly choice: string;
  readonly address: string;
  readonly tls: boolean;
}

export function draftOf(id: string | undefined): BackendDraft {
  return { choice: id ?? noBackend, address: '', tls: false };
}

/** The id of what was chosen, made first where it is new; undefined for none. */
export async function backendIdOf({ choice, address, tls }: BackendDraft): Promise<string | undefined> {
  if (choice === noBackend) return undefined;
  if (choice !== newBackend) return choice;
  const { id } = await client.call('StaticBackendsCreate', { body: { address, tls: { enabled: tls } } });
  return id;
}

/** Errors that are about the address of a new backend, or the choice of one. */
export const backendErrors = {
  6501: 'backend',
  6505: 'address',
  6506: 'address',
  6507: 'address',
  242: 'backend',
  20018: 'backend',
} as const;

export function BackendChoice({
  draft,
  onChange,
  isOptional = false,
  hint = 'Where the traffic goes: an address, or the agents that have a label.',
  error,
}: {
  readonly draft: BackendDraft;
  readonly onChange: (draft: BackendDraft) => void;
  readonly isOptional?: boolean;
  readonly hint?: string | undefined;
  /** Shown here if it is about the backend. */
  readonly error: CallError | undefined;
}) {
  const { all = [] } = useBackends();
  const at = error === undefined ? undefined : fieldOfError(error, { backend: 0, address: 0 }, backendErrors);
  const errorAt = (name: 'backend' | 'address') => (name === at ? error?.message : undefined);
  const set = (part: Partial<BackendDraft>): void => onChange({ ...draft, ...part });
  // A backend that was deleted meanwhile, or has not come yet, keeps its line.
  const [first] = useState(draft.choice);
  const isListed = all.some(({ id }) => id === first) || [noBackend, newBackend].includes(first);
  return (
    <>
      <SelectField
        label="Backend"
        {...(isOptional ? { note: 'optional' } : {})}
        value={draft.choice}
        options={[
          [noBackend, isOptional ? 'None yet' : 'Choose a backend'],
          ...all.map(({ id, name, target }) => [id, name === target ? name : `${name}: ${target}`] as const),
          ...(isListed ? [] : [[first, shortId(first)] as const]),
          [newBackend, 'A new address…'],
        ]}
        onChange={(choice) => set({ choice })}
        hint={hint}
        error={errorAt('backend')}
      />
      {draft.choice === newBackend ? (
        <>
          <TextField
            label="Address"
            mono
            placeholder="app.internal:8080"
            value={draft.address}
            onChange={(address) => set({ address })}
            hint="As host:port; write an IPv6 address in brackets. Gatehouse makes a static backend for it."
            error={errorAt('address')}
          />
          <Check isOn={draft.tls} onChange={(tls) => set({ tls })}>
            It speaks TLS
          </Check>
        </>
      ) : null}
    </>
  );
}
