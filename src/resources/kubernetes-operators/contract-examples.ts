import { newDescription } from '../../../test/contract/support/examples.ts';
import type { ResourceExamples } from '../../../test/contract/support/examples.ts';

export const examples: ResourceExamples = {
  KubernetesOperatorsCreate: () => ({
    enabled_features: ['ingress'],
    region: 'global',
    deployment: { name: 'operator', namespace: 'ingress', version: '0.20.0', cluster_name: 'production' },
  }),
  KubernetesOperatorsUpdate: newDescription,
};
