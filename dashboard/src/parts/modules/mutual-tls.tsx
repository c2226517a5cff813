import { Link } from 'wouter';

import { useList } from '../../api/queries.ts';
import { ChosenList } from '../../components/chosen-list.tsx';
import { Field } from '../../components/field.tsx';
import { shortId } from '../../lib/text.ts';
import type { ModuleEdit, ModuleKind } from './kind.ts';
import { textsIn } from './schema-form.tsx';
import type { ModuleView } from './target.ts';

function idsIn(view: ModuleView | null): readonly string[] {
  // The form in which the API shows this module.
  const shown = (view?.['certificate_authorities'] ?? []) as readonly { readonly id: string }[];
  return shown.map(({ id }) => id);
}

function useNames(): { readonly ids: readonly string[]; readonly nameOf: (id: string) => string } {
  const { data: all = [] } = useList('CertificateAuthoritiesList');
  const names = new Map(all.map((each) => [each.id, each.description || each.subject_common_name || shortId(each.id)]));
  return { ids: [...names.keys()], nameOf: (id) => names.get(id) ?? shortId(id) };
}

function Summary({ view }: { readonly view: ModuleView }) {
  const { nameOf } = useNames();
  return idsIn(view).map((id, at) => (
    <span key={id}>
      {at === 0 ? 'Certificates by ' : ', '}
      <Link to={`/certificates/${id}`}>{nameOf(id)}</Link>
    </span>
  ));
}

function Fields({ edit }: { readonly edit: ModuleEdit }) {
  const { ids, nameOf } = useNames();
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
