import { placeAt } from './place.ts';
import type { Place } from './place.ts';

/** A field of an action, as the server reads it. */
interface Field {
  readonly about: string;
  readonly isRequired?: boolean;
  readonly words?: readonly string[];
  readonly fields?: Fields;
}
type Fields = Readonly<Record<string, Field>>;

/** Names of the server that policies use; generated from its own tables. */
export interface PolicyWords {
  readonly phases: Readonly<
    Record<
      string,
      {
        readonly actions: Readonly<Record<string, Fields>>;
        /** Types by name. */
        readonly variables: Readonly<Record<string, string>>;
        /** Forms by name. */
        readonly functions: Readonly<Record<string, readonly string[]>>;
      }
    >
  >;
}

export interface Option {
  readonly name: string;
  /** Written in place of what stands there. */
  readonly text: string;
  readonly about: string;
}

export interface Completion {
  /** Start of what is replaced. */
  readonly from: number;
  readonly options: readonly Option[];
}

const nothing: Completion = { from: 0, options: [] };
/** Options that are shown at most. */
const most = 50;

const ofRules: Fields = {
  name: { about: 'shown in trials and logs' },
  expressions: { about: 'a list; all must be true' },
  actions: { about: 'a list; run in order', isRequired: true },
};
const ofActions: Fields = {
  type: { about: 'what is done', isRequired: true },
  config: { about: 'how it is done' },
};

/** Names that could stand at the caret. */
export function completionsAt(text: string, caret: number, words: PolicyWords): Completion {
  const token = endOf(text.slice(0, caret), /[\w.-]/);
  const place = placeAt(text, caret);
  const [phase = '', ...below] = place.path;
  const known = words.phases[phase];
  const before = text.slice(text.lastIndexOf('\n', caret - 1) + 1, caret);
  if (known !== undefined && before.lastIndexOf('${') > before.lastIndexOf('}'))
    return expressionNames(before, caret, known);
  if (place.path.length === 0 || (place.path.length === 1 && place.writes === 'key'))
    return known === undefined
      ? keys(
          Object.fromEntries(Object.keys(words.phases).map((each) => [each, { about: 'a list of rules' }])),
          token,
          caret,
          place,
        )
      : nothing;
  if (known === undefined) return nothing;
  const [item, part, partItem, ...rest] = below;
  if (item !== '-') return nothing;
  if (part === undefined) return place.writes === 'key' ? keys(ofRules, token, caret, place) : nothing;
  if (part === 'expressions') return expressionNames(before, caret, known);
  if (part !== 'actions' || partItem !== '-') return nothing;
  const [field, ...inConfig] = rest;
  if (field === undefined) return keys(ofActions, token, caret, place);
  if (field === 'type')
    return matching(
      Object.keys(known.actions).map((name) => ({ name, text: quoted(name, place, before), about: '' })),
      token,
      caret,
    );
  if (field !== 'config') return nothing;
  const type = typeOfAction(text, place);
  return configNames(known.actions[type] ?? {}, inConfig, { token, caret, place, before, known });
}

function configNames(
  fields: Fields,
  path: readonly string[],
  at: {
    readonly token: string;
    readonly caret: number;
    readonly place: Place;
    readonly before: string;
    readonly known: PolicyWords['phases'][string];
  },
): Completion {
  const [name, ...rest] = path;
  if (name === undefined) return at.place.writes === 'key' ? keys(fields, at.token, at.caret, at.place) : nothing;
  if (name === '-') return configNames(fields, rest, at);
  const field = fields[name];
  if (field === undefined) return nothing;
  if (field.fields !== undefined && (rest.length > 0 || at.place.writes === 'key'))
    return configNames(field.fields, rest, at);
  // An item of a list of texts stands where a key could.
  if (at.place.writes === 'key' && rest[0] !== '-') return nothing;
  if (field.about.includes('expression')) return expressionNames(at.before, at.caret, at.known);
  const options = (field.words ?? []).map((word) => ({ name: word, text: word, about: '' }));
  return matching(
    options.map((each) => ({ ...each, text: quoted(each.name, at.place, at.before) })),
    at.token,
    at.caret,
  );
}

/** JSON has its words in quotes, unless they are true or false. */
function quoted(name: string, { isJson }: Place, before: string): string {
  return isJson && !/"[\w.-]*$/.test(before) && name !== 'true' && name !== 'false' ? `"${name}"` : name;
}

function keys(fields: Fields, token: string, caret: number, { isJson }: Place): Completion {
  const options = Object.entries(fields).map(([name, { about, isRequired }]) => ({
    name,
    text: isJson ? name : `${name}: `,
    about: isRequired === true ? `required, ${about}` : about,
  }));
  return matching(options, token, caret);
}

/** The type of the action around the caret: the first that is written in its item. */
function typeOfAction(text: string, { path, starts }: Place): string {
  const item = path.indexOf('-', path.indexOf('actions'));
  const [, type = ''] = /["']?\btype["']?\s*:\s*["']?([\w-]+)/.exec(text.slice(starts[item])) ?? [];
  return type;
}

/** Variables and functions; behind a value and a dot, methods. */
function expressionNames(
  before: string,
  caret: number,
  { variables, functions }: PolicyWords['phases'][string],
): Completion {
  const token = endOf(before, /[\w.]/);
  const isMethod = (form: string): boolean => form.includes('.(');
  const all = [
    ...Object.entries(variables).map(([name, type]) => ({ name, text: name, about: type })),
    ...Object.entries(functions).flatMap(([name, forms]) => {
      const form = forms.find((each) => !isMethod(each));
      return form === undefined ? [] : [{ name, text: `${name}(`, about: form }];
    }),
  ];
  const whole = matching(all, token, caret);
  if (whole.options.length > 0 && !token.startsWith('.')) return whole;
  const dot = token.lastIndexOf('.');
  if (dot < 0) return whole;
  const methods = Object.entries(functions).flatMap(([name, forms]) => {
    const form = forms.find(isMethod);
    return form === undefined ? [] : [{ name, text: `${name}(`, about: form }];
  });
  return matching(methods, token.slice(dot + 1), caret);
}

/** The end of a text as far as it has such characters alone. */
function endOf(text: string, allowed: RegExp): string {
  let at = text.length;
  while (at > 0 && allowed.test(text.charAt(at - 1))) at--;
  return text.slice(at);
}

/** Options that begin with what is typed, before those that hold it. */
function matching(options: readonly Option[], token: string, caret: number): Completion {
  const lower = token.toLowerCase();
  const rank = ({ name }: Option): number => {
    const at = name.toLowerCase().indexOf(lower);
    return at < 0 ? 2 : at === 0 ? 0 : 1;
  };
  const found = options.filter((each) => rank(each) < 2).toSorted((one, other) => rank(one) - rank(other));
  return { from: caret - token.length, options: found.slice(0, most) };
}
