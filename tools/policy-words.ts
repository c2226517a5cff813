import type { Overload } from '../src/lib/cel/environment.ts';
import type { Run } from '../src/lib/cel/run.ts';
import { any } from '../src/lib/cel/types.ts';
import { actions } from '../src/modules/traffic-policy/actions/index.ts';
import type { Action } from '../src/modules/traffic-policy/actions/action.ts';
import type { BuildContext } from '../src/modules/traffic-policy/document/build-context.ts';
import { ConfigReader } from '../src/modules/traffic-policy/document/config-reader.ts';
import { newReads } from '../src/modules/traffic-policy/document/reads.ts';
import { constantTemplate } from '../src/modules/traffic-policy/document/template.ts';
import type { Template } from '../src/modules/traffic-policy/document/template.ts';
import { phases } from '../src/modules/traffic-policy/phases.ts';
import type { Phase } from '../src/modules/traffic-policy/phases.ts';
import type { PolicyVisit } from '../src/modules/traffic-policy/run/policy-visit.ts';
import { environmentOf } from '../src/modules/traffic-policy/variables/environment.ts';
import { placeVariables } from '../src/modules/traffic-policy/variables/places.ts';

/** A field of an action, as its reader asks for it. */
interface Field {
  /** Such as "a text" or "10 to 20". */
  about: string;
  isRequired?: true;
  /** The only words that it takes. */
  words?: readonly string[];
  /** Fields of the object, or of the objects of the list, that it holds. */
  fields?: Fields;
}
type Fields = Record<string, Field>;

/** Texts that some actions need before they ask for more. */
const texts = ['x', 'google', 'github', 'https://id.example.com'] as const;

/** Answers to an action that is asked for its fields: nothing is given, or everything, each with the nth word of its list. */
type Answers = 'nothing' | number;

/** Notes what an action asks of its config, and answers so that it goes on asking. */
class FieldProbe extends ConfigReader {
  readonly fields: Fields;
  readonly #answers: Answers;
  #last = '';

  constructor(context: BuildContext, fields: Fields, answers: Answers) {
    super({}, 'config', context);
    this.fields = fields;
    this.#answers = answers;
  }

  #note<Value>(name: string, field: Field, value: Value): Value | undefined {
    const known = this.fields[name];
    // A later question about the same field may be the closer one.
    this.fields[name] = known === undefined || known.about === 'anything' ? { ...known, ...field } : known;
    this.#last = name;
    return this.#answers === 'nothing' ? undefined : value;
  }

  override get names(): readonly string[] {
    return [];
  }

  override finish(): void {}

  override raw(name: string): unknown {
    return this.#note(name, { about: 'anything' }, undefined);
  }

  override required<Value>(name: string, value: Value | undefined): Value {
    const field = this.fields[name] ?? this.fields[this.#last];
    if (field !== undefined) field.isRequired = true;
    // Without it an action cannot go on, and has asked for the rest with other answers.
    return value as Value;
  }

  override boolean(name: string): boolean | undefined {
    return this.#note(name, { about: 'true or false', words: ['true', 'false'] }, true);
  }

  override number(name: string, least: number, most: number): number | undefined {
    return this.#note(name, { about: `a number, ${least} to ${most}` }, least);
  }

  override integer(name: string, least: number, most: number): number | undefined {
    return this.#note(name, { about: `a whole number, ${least} to ${most}` }, least);
  }

  override duration(name: string, leastMs: number, mostMs: number): number | undefined {
    return this.#note(name, { about: `a duration, ${leastMs / 1000}s to ${mostMs / 1000}s` }, leastMs);
  }

  override text(name: string): string | undefined {
    return this.#note(name, { about: 'a text' }, this.#textNow());
  }

  override oneOf<const Word extends string>(name: string, words: readonly Word[]): Word | undefined {
    const at = this.#answers === 'nothing' ? 0 : this.#answers;
    return this.#note(name, { about: `one of ${words.join(', ')}`, words }, words[at % words.length]);
  }

  override template(name: string): Template | undefined {
    return this.#note(name, { about: 'a text, with ${…} filled in' }, constantTemplate('https://x.internal'));
  }

  override secretTemplate(name: string): Template | undefined {
    return this.#note(name, { about: 'a text, which may name a secret' }, constantTemplate(this.#textNow()));
  }

  override secretTemplates(name: string): readonly Template[] | undefined {
    return this.#note(name, { about: 'a list of texts, which may name secrets' }, [constantTemplate('x')]);
  }

  override templates(name: string): readonly Template[] | undefined {
    return this.#note(name, { about: 'a list of texts, with ${…} filled in' }, [constantTemplate('x')]);
  }

  override texts(name: string): readonly string[] | undefined {
    return this.#note(name, { about: 'a list of texts' }, ['x']);
  }

  override templateMap(name: string): ReadonlyMap<string, Template> | undefined {
    return this.#note(name, { about: 'a map of texts, with ${…} filled in' }, new Map([['x', constantTemplate('x')]]));
  }

  override objects(name: string): readonly ConfigReader[] | undefined {
    return this.#note(name, { about: 'a list of maps' }, [this.#below(name)]);
  }

  override object(name: string): ConfigReader | undefined {
    return this.#note(name, { about: 'a map' }, this.#below(name));
  }

  override expression(name: string): Run<PolicyVisit> | undefined {
    return this.#note(name, { about: 'an expression' }, () => '');
  }

  override expressionWith(name: string): Run<PolicyVisit> | undefined {
    return this.expression(name);
  }

  override expressions(name: string): readonly Run<PolicyVisit>[] | undefined {
    return this.#note(name, { about: 'a list of expressions' }, [() => '']);
  }

  #textNow(): string {
    return texts[this.#answers === 'nothing' ? 0 : this.#answers % texts.length] ?? texts[0];
  }

  #below(name: string): FieldProbe {
    const field = (this.fields[name] ??= { about: 'anything' });
    return new FieldProbe(this.context, (field.fields ??= {}), this.#answers);
  }
}

/** More than any list of words has. */
const mostWords = 8;

/** The fields of an action in a phase: all that it asks for, however it is answered. */
function fieldsOf(action: Action, phase: Phase): Fields {
  const fields: Fields = {};
  const context = { phase, environment: environmentOf(phase), reads: newReads(), ofAction: { characters: 0 } };
  for (const answers of ['nothing', ...Array.from({ length: mostWords }, (_, at) => at)] as const)
    try {
      action.build(new FieldProbe(context, fields, answers));
    } catch {
      // It refuses such a config, and has asked for its fields before.
    }
  return fields;
}

/** All that the editor of policies offers, as the server has it. */
export function policyWords(): object {
  return {
    phases: Object.fromEntries(
      phases.map((phase) => {
        const { variables, functions } = environmentOf(phase);
        return [
          phase,
          {
            actions: Object.fromEntries(
              actions
                .filter((action) => action.phases.includes(phase))
                .map((action) => [action.type, fieldsOf(action, phase)]),
            ),
            variables: Object.fromEntries(
              Array.from(variables, ([name, { type }]) => [
                name,
                Object.hasOwn(placeVariables, name) ? `${type.name}, with a database of places` : type.name,
              ]),
            ),
            functions: Object.fromEntries(
              Array.from(functions, ([name, overloads]) => [name, overloads.map(formOf)] as const).filter(([name]) =>
                /^[A-Za-z]/.test(name),
              ),
            ),
          },
        ];
      }),
    ),
  };
}

/** Such as ".startsWith(string) → bool". */
function formOf<Subject>({ isMethod, parameters, result }: Overload<Subject>): string {
  const names = parameters.map(({ name }) => name);
  const [self = '', ...others] = names;
  const type = typeof result === 'function' ? any.name : result.name;
  return isMethod ? `${self}.(${others.join(', ')}) → ${type}` : `(${names.join(', ')}) → ${type}`;
}
