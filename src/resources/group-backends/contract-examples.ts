import type { ExampleMaker, ResourceExamples } from '../../../test/contract/support/examples.ts';

const weights = async (account: ExampleMaker) => ({ backends: { [(await account.make('/backends/static')).id]: 100 } });
const order = async (account: ExampleMaker) => ({ backends: [(await account.make('/backends/static')).id] });

export const examples: ResourceExamples = {
  WeightedBackendsCreate: weights,
  WeightedBackendsUpdate: weights,
  FailoverBackendsCreate: order,
  FailoverBackendsUpdate: order,
};
