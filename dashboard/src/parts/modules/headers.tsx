import { ApiError } from '../../../../client/src/index.ts';
import type { CallError } from '../../api/client.ts';
import { mapOf, PairsField, pairsOf } from '../../components/list-fields.tsx';
import type { Pair } from '../../components/list-fields.tsx';
import type { ModuleEdit, ModuleKind, Values } from './kind.ts';
import { LinesField, linesOf, textsIn } from './schema-form.tsx';
import type { ModuleView } from './target.ts';

/** Most bytes of a header's name and of its value. */
const limits = [256, 4096] as const;

/** Errors about one header, or about how many there are. */
const errors = Object.fromEntries([7015, 7023, 7024, 7069, 7105, 7106, 7164, 20_017].map((number) => [number, 'add']));

// The form in which the API shows this module.
const addedIn = (view: ModuleView | null): Record<string, string> => (view?.['add'] ?? {}) as Record<string, string>;
// `toValues` puts them there.
const pairsIn = (values: Values): readonly Pair[] => values['add'] as readonly Pair[];

function Summary({ view }: { readonly view: ModuleView }) {
  const added = Object.keys(addedIn(view));
  const removed = textsIn(view['remove']);
  if (added.length + removed.length === 0) return 'Changes nothing yet';
  return (
    <>
      {added.length === 0 ? null : (
        <>
          Adds <Names names={added} />
        </>
      )}
      {added.length > 0 && removed.length > 0 ? ', ' : null}
      {removed.length === 0 ? null : (
        <>
          {added.length === 0 ? 'Removes' : 'removes'} <Names names={removed} />
        </>
      )}
    </>
  );
}

const namesShown = 3;

function Names({ names }: { readonly names: readonly string[] }) {
  return (
    <>
      <code>{names.slice(0, namesShown).join(', ')}</code>
      {names.length > namesShown ? ` and ${names.length - namesShown} more` : ''}
    </>
  );
}

/** The list and the line that an error is about: messages name the header in quotes. */
function placeOf(
  error: CallError | undefined,
  added: readonly Pair[],
): { readonly list: 'add' | 'remove'; readonly line?: number } | undefined {
  if (!(error instanceof ApiError) || error.number === undefined || !(error.number in errors)) return undefined;
  if (/cannot be removed|module removes|can be removed only/.test(error.message)) return { list: 'remove' };
  const message = error.message.toLowerCase();
  const line = added.findIndex(([name]) => name !== '' && message.includes(`"${name.toLowerCase()}"`));
  if (line >= 0) return { list: 'add', line };
  return { list: /module adds|value of the header/.test(error.message) ? 'add' : 'remove' };
}

function Fields({ edit, before }: { readonly edit: ModuleEdit; readonly before: string }) {
  const pairs = pairsIn(edit.values);
  const place = placeOf(edit.error, pairs);
  return (
    <>
      <PairsField
        label={`Add before ${before}`}
        nouns={['Header name', 'Header value']}
        addWords="Add header"
        pairs={pairs}
        onChange={(next) => edit.set('add', next)}
        limits={limits}
        error={place?.list === 'add' ? edit.error?.message : undefined}
        errorLine={place?.line}
      />
      <LinesField
        label="Remove"
        note="names, one a line; a name in both lists is replaced"
        placeholder="x-debug-user"
        lines={textsIn(edit.values['remove'])}
        onChange={(lines) => edit.set('remove', lines)}
        error={place?.list === 'remove' ? edit.error?.message : undefined}
      />
    </>
  );
}

export function headersKind(title: string, badge: string, before: string): ModuleKind {
  return {
    icon: 'headers',
    title,
    badge,
    whenNotSet: 'Headers pass unchanged',
    errors,
    toValues: (view) => ({
      enabled: view?.enabled ?? true,
      add: view === null ? [['', '']] : pairsOf(addedIn(view)),
      remove: textsIn(view?.['remove']),
    }),
    toSettings: (values) =>
      Promise.resolve({
        enabled: values['enabled'],
        add: mapOf(pairsIn(values)),
        remove: linesOf(textsIn(values['remove'])),
      }),
    Summary,
    Fields: ({ edit }) => <Fields edit={edit} before={before} />,
  };
}
