import type { Resource } from '../resource.ts';
import { createPolicyCompiler } from './compile.ts';
import * as errors from './errors.ts';
import { replaceRulesOperation, RulesReplaced } from './replace-rules.ts';
import { IpPolicyRuleCreate, IpPolicyRuleUpdate, IpPolicyRuleView, ruleOperations } from './rules.ts';
import { createRuleSweeper } from './rule-sweeper.ts';
import { ruleSearch } from './search.ts';
import { ipPolicyRuleSearch, ruleSweeper } from './service.ts';
import { migrations } from './table.ts';

export const ipPolicyRulesResource: Resource = {
  errors: Object.values(errors),
  migrations,
  schemas: [IpPolicyRuleView, IpPolicyRuleCreate, IpPolicyRuleUpdate, RulesReplaced],
  operations: (context) => [...ruleOperations(context), replaceRulesOperation(context)],
  compilers: ({ store }) => [createPolicyCompiler(store)],
  provide: ({ store, services }) => {
    services.provide(ipPolicyRuleSearch, ruleSearch);
    services.provide(ruleSweeper, createRuleSweeper(store));
  },
};
