/** The few forms of answers that endpoints give, and the status texts of Envoy. */
import type { JsonValue } from '../../../shared/api/well-known.ts';
import type { AdminBody, AdminResponse } from '../../http-pages/admin-response.ts';
import {
  isSmall,
  printJson,
  printJsonInSteps,
  printLazyJson,
  type LazyObject,
} from '../json-printer.ts';

export const TEXT = 'text/plain; charset=UTF-8';
export const HTML = 'text/html; charset=UTF-8';
export const JSON_TYPE = 'application/json';

export function textResponse(body: AdminBody, status = 200): AdminResponse {
  return { status, contentType: TEXT, body };
}

/** What Envoy says after a command. */
export function okResponse(): AdminResponse {
  return textResponse('OK\n');
}

export function jsonResponse(value: JsonValue): AdminResponse {
  return {
    status: 200,
    contentType: JSON_TYPE,
    body: isSmall(value) ? printJson(value) : printJsonInSteps(value),
  };
}

/** An answer in JSON that is made while it is sent. */
export function lazyJsonResponse(object: LazyObject): AdminResponse {
  return { status: 200, contentType: JSON_TYPE, body: printLazyJson(object) };
}
