import { backgroundTasks } from '../background-tasks.ts';
import type { Resource } from '../resource.ts';
import { createPolicyCompiler } from './compile.ts';
import { countRulesOperation, RuleCounts } from './count-rules.ts';
import * as errors from './errors.ts';
import { listRulesOperation, RulesOfPolicy } from './list-rules.ts';
import { replaceRulesOperation, RulesReplaced } from './replace-rules.ts';
import { IpPolicyRuleCreate, IpPolicyRuleUpdate, IpPolicyRuleView, ruleOperations } from './rules.ts';
import { createRuleSets } from './replace/rule-sets.ts';
import { ruleSearch } from './search.ts';
import { createRuleLists } from './rule-entry-lists.ts';
import { ipPolicyRuleSearch, ruleLists, ruleSets } from './service.ts';
import { migrations } from './table.ts';

export const ipPolicyRulesResource: Resource = {
  errors: Object.values(errors),
  migrations,
  schemas: [IpPolicyRuleView, IpPolicyRuleCreate, IpPolicyRuleUpdate, RulesReplaced, RulesOfPolicy, RuleCounts],
  operations: (context) => [
    ...ruleOperations(context),
    listRulesOperation(context),
    replaceRulesOperation(context),
    countRulesOperation(context),
  ],
  compilers: ({ store }) => [createPolicyCompiler(store)],
  provide: (context) => {
    const { store, services } = context;
    services.provide(ruleLists, createRuleLists(context));
    services.provide(ipPolicyRuleSearch, ruleSearch);
    const sets = createRuleSets(store);
    services.provide(ruleSets, sets);
    services.add(backgroundTasks, { ofApi: true, start: async (log) => sets.start(log) });
  },
};
