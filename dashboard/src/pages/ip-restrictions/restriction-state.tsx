import { Badge } from '../../components/verdict.tsx';

export function RestrictionState({ isEnforced }: { readonly isEnforced: boolean }) {
  return isEnforced ? <Badge>Enforced</Badge> : <Badge tone="warn">Warns only</Badge>;
}
