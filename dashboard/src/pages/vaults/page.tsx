import type { PageProps } from '../../components/page.tsx';
import { useMayWrite } from '../../components/rights.tsx';
import { useUrlState } from '../../lib/url-state.ts';
import { CreateDialog } from '../../resource/form.tsx';
import { ListTabs, Rows } from '../../resource/lists.tsx';
import { ResourcePage } from '../../resource/page.tsx';
import { secrets } from './secrets.tsx';
import { vaults } from './vaults.tsx';

export function Page({ id }: PageProps) {
  const [params] = useUrlState();
  const mayWrite = useMayWrite();
  if (id !== undefined)
    return id.startsWith('secret_') ? (
      <ResourcePage key={id} resource={secrets} id={id} />
    ) : (
      <ResourcePage key={id} resource={vaults} id={id} />
    );
  return (
    <>
      <ListTabs
        title="Vaults"
        lead="A vault keeps secrets, which traffic policies use by name and nobody can read back."
        action="Create vault"
        what="vaults"
        label="Vaults and secrets"
        path="/vaults"
        open={params.get('kind') ?? undefined}
        tabs={[
          { text: 'Vaults', list: 'VaultsList', rows: <Rows listed={vaults} /> },
          { value: 'secrets', text: 'All secrets', list: 'VaultSecretsList', rows: <Rows listed={secrets} /> },
        ]}
      />
      {params.has('create') && mayWrite ? <CreateDialog resource={vaults} /> : null}
    </>
  );
}
