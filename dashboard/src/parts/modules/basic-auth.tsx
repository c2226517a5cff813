import { PairsField } from '../../components/list-fields.tsx';
import type { Pair } from '../../components/list-fields.tsx';
import { countOf } from '../../lib/text.ts';
import type { ModuleEdit, ModuleKind, Values } from './kind.ts';
import type { ModuleView } from './target.ts';

/** User names; passwords are never shown. */
function namesIn(view: ModuleView | null): readonly string[] {
  // The form in which the API shows this module.
  const shown = (view?.['credentials'] ?? []) as readonly { readonly username: string }[];
  return shown.map(({ username }) => username);
}

// `toValues` puts them there.
const pairsIn = (values: Values): readonly Pair[] => values['credentials'] as readonly Pair[];
const storedIn = (values: Values): readonly string[] => values['stored'] as readonly string[];

function Fields({ edit }: { readonly edit: ModuleEdit }) {
  const stored = storedIn(edit.values);
  return (
    <>
      <p className="soft">
        Visitors must give one of these. A visitor who gives too many wrong ones within a minute is refused for a while.
      </p>
      <PairsField
        label="Names and passwords"
        nouns={['User name', 'Password']}
        addWords="Add name"
        pairs={pairsIn(edit.values)}
        onChange={(next) => edit.set('credentials', next)}
        error={edit.errorAt('credentials')}
        isSecret
        valueHint={(name) => (stored.includes(name.trim()) ? 'stays as it is' : '')}
      />
    </>
  );
}

export const basicAuthKind: ModuleKind = {
  icon: 'key',
  title: 'Password',
  badge: 'Password',
  whenNotSet: 'Visitors are not asked for a password',
  errors: { 20_156: 'credentials', 20_286: 'credentials' },
  toValues: (view) => ({
    enabled: view?.enabled ?? true,
    credentials: view === null ? [['', '']] : namesIn(view).map((name) => [name, '']),
    stored: namesIn(view),
  }),
  toSettings: (values) =>
    Promise.resolve({
      enabled: values['enabled'],
      credentials: pairsIn(values).flatMap(([name, password]) =>
        name.trim() === '' ? [] : [{ username: name.trim(), ...(password === '' ? {} : { password }) }],
      ),
    }),
  Summary: ({ view }) =>
    `${countOf(namesIn(view).length, 'user name', 'user names')}: ${namesIn(view).slice(0, 3).join(', ')}`,
  Fields,
};
