import type { Resource } from '../resource.ts';
import { createPolicyCompiler } from './compile.ts';
import * as errors from './errors.ts';
import { replaceRulesOperation, RulesReplaced } from './replace-rules.ts';
import { IpPolicyRuleCreate, IpPolicyRuleUpdate, IpPolicyRuleView, ruleOperations } from './rules.ts';
import { ruleSearch } from './search.ts';
import { ipPolicyRuleSearch } from './service.ts';
import { migrations } from './table.ts';

export const ipPolicyRulesResource: Resource = {
  errors: Object.values(errors),
  migrations,
  schemas: [IpPolicyRuleView, IpPolicyRuleCreate, IpPolicyRuleUpdate, RulesReplaced],
  operations: (context) => [...ruleOperations(context), replaceRulesOperation(context)],
  compilers: () => [createPolicyCompiler()],
  provide: ({ services }) => {
    services.provide(ipPolicyRuleSearch, ruleSearch);
  },
};
