import type { Static } from 'typebox';

import {
  acceptHeaderChanges,
  headerErrors,
  headerChangesInput,
  headerChangesView,
  headerRewriter,
  headerWarnings,
} from '../header-changes.ts';
import type { HeaderChanges } from '../header-changes.ts';
import type { EdgeModule } from '../module.ts';

const subject = 'the HTTP request before it is sent to the upstream application server';
const Input = headerChangesInput('RequestHeadersModuleReplace', subject);

export const requestHeaders: EdgeModule<Static<typeof Input>, HeaderChanges> = {
  name: 'request_headers',
  title: 'Request Headers',
  targets: ['https_route'],
  input: Input,
  view: headerChangesView('RequestHeadersModule', subject),
  errors: headerErrors,
  accept: acceptHeaderChanges,
  present: (settings) => settings,
  warnings: headerWarnings,
  build: (settings) => ({ rewriteRequest: headerRewriter(settings), removedFromRequest: settings.remove }),
};
