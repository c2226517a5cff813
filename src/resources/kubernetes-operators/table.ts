import type { TextFields } from '../../api/body/text-fields.ts';
import type { Migration } from '../../store/migrate.ts';
import { Table, tableSql } from '../../store/table.ts';
import type { Stored } from '../../store/table.ts';

/** The place in a cluster where an operator runs, as it says. */
export interface Deployment {
  readonly name?: string;
  readonly namespace?: string;
  readonly version?: string;
  readonly cluster_name?: string;
}

/** An operator of a Kubernetes cluster that has registered. Nothing depends on it. */
export interface KubernetesOperator extends Stored, TextFields {
  readonly updated_at: string;
  /** Id of the user or bot that registered it. */
  readonly principal: string;
  readonly enabled_features: readonly string[];
  readonly region: string;
  readonly deployment: Deployment;
}

export const migrations: readonly Migration[] = [
  { name: 'kubernetes-operators 0001', sql: tableSql('kubernetes_operators') },
];

export const kubernetesOperators = new Table<KubernetesOperator>({
  name: 'kubernetes_operators',
  kind: 'kubernetes_operator',
  prefix: 'k8sop',
});
