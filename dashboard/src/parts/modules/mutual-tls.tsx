import { Link } from 'wouter';

import { ChosenList } from '../../components/chosen-list.tsx';
import { Field } from '../../components/field.tsx';
import { useAuthorities } from '../authorities.ts';
import type { ModuleEdit, ModuleKind } from './kind.ts';
import { textsIn } from './schema-form.tsx';
import type { ModuleView } from './target.ts';

function idsIn(view: ModuleView | null): readonly string[] {
  // The form in which the API shows this module.
  const shown = (view?.['certificate_authorities'] ?? []) as readonly { readonly id: string }[];
  return shown.map(({ id }) => id);
}

function Summary({ view }: { readonly view: ModuleView }) {
  const { nameOf } = useAuthorities();
  return idsIn(view).map((id, at) => (
    <span key={id}>
      {at === 0 ? 'Certificates by ' : ', '}
      <Link to={`/certificates/${id}`}>{nameOf(id)}</Link>
    </span>
  ));
}

function Fields({ edit }: { readonly edit: ModuleEdit }) {
  const { ids, nameOf } = useAuthorities();
  const chosen = textsIn(edit.values['certificate_authority_ids']);
  const set = (next: readonly string[]): void => edit.set('certificate_authority_ids', next);
  return (
    <Field
      label="Certificates by"
      hint="A visitor must show a certificate that one of these authorities has signed. Add authorities on the page of certificates."
      error={edit.errorAt('certificate_authority_ids')}
    >
      {(control) => (
        <div className="stack tight">
          <ChosenList
            control={control}
            chosen={chosen}
            ids={ids}
            nameOf={nameOf}
            words={{ none: 'There are no authorities', all: 'All are chosen', add: 'Choose an authority' }}
            onChange={set}
          />
        </div>
      )}
    </Field>
  );
}

export const mutualTlsKind: ModuleKind = {
  icon: 'certificate',
  title: 'Mutual TLS',
  badge: 'Mutual TLS',
  whenNotSet: 'Visitors need no certificate',
  errors: Object.fromEntries([20_295, 20_296, 20_297, 20_009].map((number) => [number, 'certificate_authority_ids'])),
  toValues: (view) => ({ enabled: view?.enabled ?? true, certificate_authority_ids: idsIn(view) }),
  toSettings: (values) => Promise.resolve(values),
  Summary,
  Fields,
};
