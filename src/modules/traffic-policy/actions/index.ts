import type { Action } from './action.ts';
import { addHeaders } from './add-headers.ts';
import { basicAuth } from './basic-auth.ts';
import { circuitBreaker } from './circuit-breaker.ts';
import { closeConnection } from './close-connection.ts';
import { compressResponse } from './compress-response.ts';
import { customResponse } from './custom-response.ts';
import { deny } from './deny.ts';
import { forwardInternal } from './forward-internal.ts';
import { httpRequest } from './http-request.ts';
import { log } from './log.ts';
import { rateLimit } from './rate-limit.ts';
import { redirect } from './redirect.ts';
import { jwtValidation } from './jwt-validation.ts';
import { requestBodyFindReplace } from './request-body-find-replace.ts';
import { responseBodyFindReplace } from './response-body-find-replace.ts';
import { removeHeaders } from './remove-headers.ts';
import { restrictIps } from './restrict-ips.ts';
import { setVars } from './set-vars.ts';
import { terminateTls } from './terminate-tls.ts';
import { urlRewrite } from './url-rewrite.ts';
import { oauth, openidConnect } from './sign-in.ts';
import { verifyWebhook } from './verify-webhook.ts';

/** Every action. A new one is a file with an `Action`, and one line here; `action.ts` says what it has to offer. */
export const actions: readonly Action[] = [
  addHeaders,
  basicAuth,
  circuitBreaker,
  closeConnection,
  compressResponse,
  customResponse,
  deny,
  forwardInternal,
  httpRequest,
  log,
  rateLimit,
  redirect,
  jwtValidation,
  oauth,
  openidConnect,
  removeHeaders,
  requestBodyFindReplace,
  responseBodyFindReplace,
  restrictIps,
  setVars,
  terminateTls,
  urlRewrite,
  verifyWebhook,
];
