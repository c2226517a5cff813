import { Link } from 'wouter';

import { UnbrokenPort } from '../../components/unbroken-port.tsx';
import { BackendChoice, backendErrors, backendIdOf, draftOf } from '../backend-choice.tsx';
import type { BackendDraft } from '../backend-choice.tsx';
import { useBackends } from '../backends.ts';
import type { ModuleEdit, ModuleKind, Values } from './kind.ts';
import type { ModuleView } from './target.ts';

/** The backend that the module names. */
function backendIdIn(view: ModuleView | null): string | undefined {
  // The form in which the API shows this module.
  return (view as { readonly backend?: { readonly id: string } } | null)?.backend?.id;
}

// `toValues` puts it there.
const draftIn = (values: Values): BackendDraft => values['backend'] as BackendDraft;

function Summary({ view }: { readonly view: ModuleView }) {
  const id = backendIdIn(view) ?? '';
  const { name, target } = useBackends().find(id);
  return (
    <>
      <Link to={`/backends/${id}`}>
        <UnbrokenPort text={name} />
      </Link>
      {name === target || target === '' ? null : <span className="muted">, {target}</span>}
    </>
  );
}

function Fields({ edit }: { readonly edit: ModuleEdit }) {
  return (
    <BackendChoice draft={draftIn(edit.values)} onChange={(next) => edit.set('backend', next)} error={edit.error} />
  );
}

export const backendKind: ModuleKind = {
  icon: 'server',
  title: 'Backend',
  badge: 'Backend',
  whenNotSet: 'There is nowhere to send traffic to',
  // Both stand at the choice, which has a field of its own for an address.
  errors: Object.fromEntries(Object.keys(backendErrors).map((number) => [number, 'backend'])),
  toValues: (view) => ({ enabled: view?.enabled ?? true, backend: draftOf(backendIdIn(view)) }),
  toSettings: async (values) => {
    const id = await backendIdOf(draftIn(values));
    return { enabled: values['enabled'], ...(id === undefined ? {} : { backend_id: id }) };
  },
  Summary,
  Fields,
};
