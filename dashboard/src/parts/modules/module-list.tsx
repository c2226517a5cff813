import { demanding, useAction } from '../../api/action.ts';
import { useEdit } from '../../api/edit.ts';
import { Button, Switch } from '../../components/button.tsx';
import { Form } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';
import { ActProblem, EditProblem } from '../../components/problem.tsx';
import { useMayWrite } from '../../components/rights.tsx';
import { toast } from '../../components/toast.tsx';
import { Glyph } from '../../components/verdict.tsx';
import { useUrlState } from '../../lib/url-state.ts';
import { rehearse } from '../rehearsal/rehearse.ts';
import { useRehearsal } from '../rehearsal/use-rehearsal.tsx';
import { inSentence, kindOf } from './kinds.tsx';
import type { ModuleKind } from './kind.ts';
import { RemoveModule } from './remove-module.tsx';
import { SwitchOnDialog } from './switch-on.tsx';
import { viewOf } from './target.ts';
import type { ModuleTarget, ModuleView } from './target.ts';

/** Modules that can turn visitors away: whom a change of one would turn is shown before it is saved. */
const decidingModules: ReadonlySet<string> = new Set([
  'ip_restriction',
  'mutual_tls',
  'user_agent_filter',
  'basic_auth',
  'jwt_validation',
  'oauth',
  'oidc',
  'webhook_verification',
  'policy',
  'traffic_policy',
]);

/** Modules that are set, in the order in which traffic meets them, then those that are not. One is opened by the URL. */
export function ModuleList({
  target,
  isFramed = true,
}: {
  readonly target: ModuleTarget;
  /** false: a panel is around it already. */
  readonly isFramed?: boolean;
}) {
  const [params, setParams] = useUrlState();
  const close = (): void => setParams({ module: undefined, act: undefined });
  const [open, schema] = target.schemas.find(([name]) => inUrl(target, name) === params.get('module')) ?? [];
  const isSet = open !== undefined && viewOf(target.document, open) !== null;
  const isEdited = (name: string): boolean => name === open && params.get('act') === 'edit';
  const set = target.schemas.filter(([name]) => viewOf(target.document, name) !== null || isEdited(name));
  const unset = target.schemas.filter((each) => !set.includes(each));
  return (
    <>
      <div className={isFramed ? 'panel' : ''}>
        {set.length === 0 ? null : (
          <ol className="modules">
            {set.map(([name, each]) => (
              <li key={name}>
                <ModuleRow target={target} module={name} kind={kindOf(name, each, target)} />
              </li>
            ))}
          </ol>
        )}
        {unset.length === 0 ? null : (
          <div className="addable">
            <span className="label">Not set</span>
            <ul>
              {unset.map(([name, each]) => (
                <li key={name}>
                  <UnsetModule target={target} module={name} kind={kindOf(name, each, target)} />
                </li>
              ))}
            </ul>
          </div>
        )}
      </div>
      {open !== undefined && schema !== undefined && isSet && params.get('act') === 'on' ? (
        <SwitchOnDialog target={target} module={open} kind={kindOf(open, schema, target)} onClose={close} />
      ) : null}
      {open !== undefined && schema !== undefined && isSet && params.get('act') === 'remove' ? (
        <RemoveModule target={target} module={open} kind={kindOf(open, schema, target)} onClose={close} />
      ) : null}
    </>
  );
}

/** A page may show the modules of an edge and those of its route, of which some have the same name. */
function inUrl({ urlPrefix = '' }: ModuleTarget, module: string): string {
  return `${urlPrefix}${module}`;
}

interface RowProps {
  readonly target: ModuleTarget;
  readonly module: string;
  readonly kind: ModuleKind;
}

/** Effect of a module while it is not set. */
function UnsetModule({ target, module, kind }: RowProps) {
  const [, setParams] = useUrlState();
  return (
    <>
      {useMayWrite() ? (
        <Button
          small
          icon="plus"
          aria-label={`Set up ${kind.title}`}
          onClick={() => setParams({ module: inUrl(target, module), act: 'edit' })}
        >
          {kind.title}
        </Button>
      ) : (
        <span>{kind.title}</span>
      )}
      {kind.whenNotSet === '' ? null : <span className="muted fine">{kind.whenNotSet}</span>}
    </>
  );
}

function ModuleRow({ target, module, kind }: RowProps) {
  const [params, setParams] = useUrlState();
  const mayWrite = useMayWrite();
  const view = viewOf(target.document, module);
  const action = useAction();
  const isEditing = params.get('module') === inUrl(target, module) && params.get('act') === 'edit' && mayWrite;
  const act = (what: string) => () => setParams({ module: inUrl(target, module), act: what });
  // A switch can only be turned the other way.
  const wanted = view?.enabled !== true;
  const settingsOf = (enabled: boolean) => kind.toSettings({ ...kind.toValues(view), enabled });
  const rehearsal = useRehearsal({
    needsVisits: true,
    subject: JSON.stringify(view),
    what: wanted ? 'Switching it on' : 'Switching it off',
    rehearse: async (signal) => rehearse(target.callToSet(module, await settingsOf(wanted)), signal),
    save: (options) => void switchTo(wanted, options),
    isSaving: action.isPending,
    error: action.error,
  });
  const switchTo = async (enabled: boolean, options: { allowLockout?: boolean } = {}): Promise<void> => {
    const settings = await settingsOf(enabled);
    await action.run(() => target.set(module, settings, { ...options, ...demanding(target.reply.etag) }));
  };
  const toggle = async (enabled: boolean): Promise<void> => {
    if (enabled && kind.isChecked === true) {
      act('on')();
      return;
    }
    if (decidingModules.has(module)) {
      rehearsal.open();
      return;
    }
    await switchTo(enabled);
  };
  return (
    <>
      <div className="m">
        <Icon name={kind.icon} />
        <b className="strong">{kind.title}</b>
        <span className={view === null ? 'sum muted' : 'sum soft'}>
          {view === null ? kind.whenNotSet : <kind.Summary view={view} />}
        </span>
        <span className="row">
          {view === null ? (
            <span className="muted">new</span>
          ) : (
            <>
              {mayWrite ? (
                <>
                  <Button look="ghost" small icon="edit" aria-label={`Edit ${kind.title}`} onClick={act('edit')} />
                  <Button look="ghost" small icon="trash" aria-label={`Remove ${kind.title}`} onClick={act('remove')} />
                  <Switch
                    isOn={view.enabled}
                    label={kind.title}
                    disabled={action.isPending}
                    onChange={(isOn) => void toggle(isOn)}
                  />
                </>
              ) : (
                <ModuleState view={view} />
              )}
            </>
          )}
        </span>
      </div>
      {action.error === undefined ? null : (
        <div className="edit">
          <ActProblem error={action.error} />
        </div>
      )}
      {rehearsal.sheet}
      {isEditing ? <EditModule target={target} module={module} kind={kind} /> : null}
    </>
  );
}

function ModuleState({ view }: { readonly view: ModuleView }) {
  return view.enabled ? (
    'On'
  ) : (
    <>
      <Glyph tone="off" /> off
    </>
  );
}

function EditModule({ target, module, kind }: RowProps) {
  const [, setParams] = useUrlState();
  const isNew = viewOf(target.document, module) === null;
  const close = (): void => setParams({ module: undefined, act: undefined });
  const edit = useEdit({
    seen: target.reply,
    reread: target.reread,
    toValues: (document) => kind.toValues(viewOf(document, module)),
    send: async (changed, options, base) =>
      target.set(module, await kind.toSettings({ ...kind.toValues(viewOf(base, module)), ...changed }), options),
    fieldsByError: kind.errors,
    onSaved: () => {
      toast(`Saved: ${kind.title}.`);
      if (isNew && kind.isChecked === true) setParams({ module: inUrl(target, module), act: 'on' });
      else close();
    },
  });
  const rehearsal = useRehearsal({
    needsVisits: true,
    subject: JSON.stringify(edit.values),
    what: `This ${inSentence(kind.title)}`,
    rehearse: async (signal) => rehearse(target.callToSet(module, await kind.toSettings(edit.values)), signal),
    save: (options) => void edit.save(options),
    isSaving: edit.isPending,
    error: edit.error,
  });
  const decides = decidingModules.has(module) && !(isNew && kind.isChecked === true);
  const words =
    isNew && kind.isChecked === true
      ? 'Save, then see who gets in'
      : decides && rehearsal.shows
        ? 'See who would notice'
        : `Save ${inSentence(kind.title)}`;
  return (
    <div className="edit">
      <Form label={kind.title} onSubmit={decides ? rehearsal.open : () => void edit.save()}>
        <EditProblem edit={edit} />
        <kind.Fields edit={edit} document={target.document} />
        <div className="row right">
          <Button onClick={close}>Discard</Button>
          <Button look="primary" type="submit" disabled={edit.isPending || !(isNew || edit.isChanged)}>
            {words}
          </Button>
        </div>
      </Form>
      {rehearsal.sheet}
    </div>
  );
}
