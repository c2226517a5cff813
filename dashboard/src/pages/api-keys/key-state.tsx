import type { ApiKey } from '../../../../client/src/index.ts';
import { Time } from '../../components/time.tsx';
import { Badge, Verdict } from '../../components/verdict.tsx';
import { daysUntil } from '../../lib/time.ts';

/** A key that ends within this many days is pointed out. */
const soonDays = 14;
const unusedDays = 90;

export function isUnused({ last_used_at: used, created_at: created }: ApiKey): boolean {
  return -daysUntil(used ?? created) > unusedDays;
}

/** Used within the last seven days: its name has to be typed before it is deleted. */
export function isInUse({ last_used_at: used }: ApiKey): boolean {
  return used !== undefined && -daysUntil(used) <= 7;
}

export function KeyBadges({ apiKey }: { readonly apiKey: ApiKey }) {
  return (
    <>
      {apiKey.read_only === true ? <Badge tone="plain">Read only</Badge> : null}
      {(apiKey.ip_policy_ids?.length ?? 0) > 0 ? <Badge tone="plain">Own addresses</Badge> : null}
      {isUnused(apiKey) ? <Badge tone="plain">Unused</Badge> : null}
    </>
  );
}

export function Expiry({ apiKey: { expires_at: end } }: { readonly apiKey: ApiKey }) {
  if (end === undefined) return <span className="soft">Never</span>;
  const days = daysUntil(end);
  if (days < 0) return <Verdict tone="deny">Expired</Verdict>;
  if (days < soonDays) {
    return (
      <Verdict tone="warn">
        <Time at={end} />
      </Verdict>
    );
  }
  return <Time at={end} />;
}

export function LastUse({ apiKey: { last_used_at: used } }: { readonly apiKey: ApiKey }) {
  return used === undefined ? <span className="soft">Never used</span> : <Time at={used} />;
}

/** Until when the token before the newest one works. */
export function oldTokenWords(until: string) {
  return (
    <span key="old">
      works until <Time at={until} />
    </span>
  );
}
