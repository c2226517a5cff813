import { TextField } from '../../components/field.tsx';
import type { ModuleEdit, ModuleKind } from './kind.ts';

function Fields({ edit }: { readonly edit: ModuleEdit }) {
  return (
    <>
      <p className="soft">
        Only requests that the provider has signed pass; others are answered with 403. Bodies are held until they are
        whole, up to 8 MiB.
      </p>
      <TextField
        label="Provider"
        placeholder="github"
        value={String(edit.values['provider'])}
        onChange={(next) => edit.set('provider', next)}
        error={edit.errorAt('provider')}
        hint="Such as github, stripe, slack, shopify, twilio; standard_webhooks for every sender that follows Standard Webhooks."
      />
      <TextField
        label="Secret"
        type="password"
        autoComplete="new-password"
        value={String(edit.values['secret'])}
        onChange={(next) => edit.set('secret', next)}
        error={edit.errorAt('secret')}
        hint={edit.values['isStored'] === true ? 'Left empty, it stays as it is.' : 'As the provider shows it.'}
      />
    </>
  );
}

export const webhookVerificationKind: ModuleKind = {
  icon: 'shield',
  title: 'Webhook signature',
  badge: 'Webhook',
  whenNotSet: 'Requests need no signature',
  errors: { 364: 'provider', 20_344: 'secret', 20_345: 'secret' },
  toValues: (view) => ({
    enabled: view?.enabled ?? true,
    provider: view?.['provider'] ?? '',
    secret: '',
    isStored: view !== null,
  }),
  toSettings: ({ enabled, provider, secret }) =>
    Promise.resolve({ enabled, provider: String(provider).trim(), ...(secret === '' ? {} : { secret }) }),
  Summary: ({ view }) => `Signed by ${String(view['provider'])}`,
  Fields,
};
