import { Check, SelectField, TextField } from '../../components/field.tsx';
import type { ModuleEdit, ModuleKind } from './kind.ts';

const ways = [
  ['source', 'Source address'],
  ['header', 'Value of a header'],
  ['certificate', 'Client certificate'],
] as const;

const eachOf: Readonly<Record<string, string>> = { source: 'source address', certificate: 'client certificate' };

function Fields({ edit, countsConnections }: { readonly edit: ModuleEdit; readonly countsConnections: boolean }) {
  const { values } = edit;
  const noun = countsConnections ? 'Connections' : 'Requests';
  const number = (name: string, label: string, hint?: string) => (
    <TextField
      label={label}
      type="number"
      value={String(values[name])}
      onChange={(text) => edit.set(name, Number(text))}
      hint={hint}
      error={edit.errorAt(name)}
    />
  );
  return (
    <>
      <p className="soft">
        {countsConnections
          ? 'Connections above the limit are reset.'
          : 'Requests above the limit get 429, with the time after which to try again.'}{' '}
        All gateways count together.
      </p>
      {number('limit', `${noun} that each may make`)}
      {number('window_seconds', 'Within so many seconds', 'At most 86,400, a day. The window slides.')}
      {countsConnections ? (
        <p className="hint">Each source address is counted; a /64 network of IPv6 is one source.</p>
      ) : (
        <SelectField
          label="Counted for each"
          value={String(values['by'])}
          options={ways}
          onChange={(way) => edit.set('by', way)}
          hint={
            values['by'] === 'source'
              ? 'A /64 network of IPv6 is one source.'
              : values['by'] === 'certificate'
                ? 'Mutual TLS of the edge asks visitors for one.'
                : undefined
          }
          error={edit.errorAt('by')}
        />
      )}
      {values['by'] === 'header' && !countsConnections ? (
        <TextField
          label="Header"
          mono
          placeholder="x-api-key"
          value={String(values['header'])}
          onChange={(header) => edit.set('header', header)}
          hint="Requests without it are counted together. Clients choose their headers: take one that something else checks."
          error={edit.errorAt('header')}
        />
      ) : null}
      <Check isOn={values['enforced'] === true} onChange={(isOn) => edit.set('enforced', isOn)}>
        Refuse what is above the limit. Off: everything passes, and the metrics count what would have been refused.
      </Check>
    </>
  );
}

/** `countsConnections`: edges that carry connections count them, by their source alone. */
export function rateLimitKind(countsConnections: boolean): ModuleKind {
  return {
    icon: 'pause',
    title: 'Rate limit',
    badge: 'Rate limit',
    whenNotSet: 'Nobody is counted',
    errors: { 20_351: 'header', 20_352: 'by' },
    toValues: (view) => ({
      enabled: view?.enabled ?? true,
      limit: view?.['limit'] ?? 100,
      window_seconds: view?.['window_seconds'] ?? 60,
      by: view?.['by'] ?? 'source',
      header: view?.['header'] ?? '',
      enforced: view?.['enforced'] ?? true,
    }),
    toSettings: ({ header, ...rest }) =>
      Promise.resolve({ ...rest, ...(rest['by'] === 'header' && header !== '' ? { header } : {}) }),
    Summary: ({ view }) => {
      const by = String(view['by']);
      const who = by === 'header' ? `value of ${String(view['header'])}` : (eachOf[by] ?? by);
      const effect = view['enforced'] === true ? '' : '; nobody is refused yet';
      return `${Number(view['limit'])} within ${Number(view['window_seconds'])} seconds for each ${who}${effect}`;
    },
    Fields: ({ edit }) => <Fields edit={edit} countsConnections={countsConnections} />,
  };
}
