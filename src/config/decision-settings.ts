import { orOff, readWholeNumber } from './values.ts';

/** Settings of the store of decisions about visitors. */
export const decisionSettings = {
  decisions: {
    form: 'folder',
    help: 'folder where this gateway keeps its decisions about visitors, or "off"; needs the package @duckdb/node-api',
    fallback: 'off',
    read: orOff(String),
  },
  decisionsDays: {
    form: 'days',
    help: 'how many days decisions are kept',
    fallback: '7',
    read: readWholeNumber(1, 3_650),
  },
  decisionsMaxSize: {
    form: 'mebibytes',
    help: 'most mebibytes of decisions; beyond it the oldest of the account that has most are removed',
    fallback: '1024',
    read: readWholeNumber(1, 1_048_576),
  },
  decisionsArchive: {
    form: 'folder',
    help: 'folder, or mounted bucket, to which closed files of decisions are copied, or "off"; it must be there',
    fallback: 'off',
    read: orOff(String),
  },
} as const;
