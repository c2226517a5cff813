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

const subject = 'the HTTP response before it is sent to the client';
const Input = headerChangesInput('ResponseHeadersModuleReplace', subject);

export const responseHeaders: EdgeModule<Static<typeof Input>, HeaderChanges> = {
  name: 'response_headers',
  title: 'Response Headers',
  targets: ['https_route'],
  input: Input,
  view: headerChangesView('ResponseHeadersModule', subject),
  errors: headerErrors,
  accept: acceptHeaderChanges,
  present: (settings) => settings,
  warnings: headerWarnings,
  build: (settings) => ({ rewriteResponse: headerRewriter(settings), removedFromResponse: settings.remove }),
};
