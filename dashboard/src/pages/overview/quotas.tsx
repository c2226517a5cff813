import type { Quotas as QuotasView } from '../../../../client/src/index.ts';
import { useOne } from '../../api/queries.ts';
import { Panel } from '../../components/page.tsx';
import { Verdict } from '../../components/verdict.tsx';
import { formatNumber } from '../../lib/text.ts';

type Quota = QuotasView['quotas'][number];

/** The server's metrics name an account from this share on. */
const nearShare = 0.8;
const everyMs = 60_000;

/** Undefined until they are known. */
export function useQuotas(): readonly Quota[] | undefined {
  return useOne('QuotasList', {}, { refreshMs: everyMs }).data?.document.quotas;
}

export function isNear({ used, limit }: Quota): boolean {
  return used > 0 && used >= nearShare * limit;
}

export function isUsedUp({ used, limit }: Quota): boolean {
  return used >= limit;
}

/** Such as "IP policy rules" for `ip_policy_rules`. */
export function titleOf({ name }: Quota): string {
  const words = name.replaceAll('_', ' ').replace(/^(?:api|ip|tcp|tls)\b/, (word) => word.toUpperCase());
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** How many of everything the account has, and may have. */
export function Quotas() {
  const quotas = useQuotas();
  if (quotas === undefined) return null;
  return (
    <Panel title="Quotas" note="used, of what this account may have">
      <dl className="facts">
        {quotas.map((quota) => (
          <div key={quota.name}>
            <dt>{titleOf(quota)}</dt>
            <dd>
              <Used quota={quota} />
            </dd>
          </div>
        ))}
      </dl>
    </Panel>
  );
}

function Used({ quota }: { readonly quota: Quota }) {
  const text = `${formatNumber(quota.used)} of ${formatNumber(quota.limit)}`;
  return isNear(quota) ? <Verdict tone={isUsedUp(quota) ? 'deny' : 'warn'}>{text}</Verdict> : text;
}
