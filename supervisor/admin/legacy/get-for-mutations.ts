/**
 * With `--legacy-admin` a GET changes the server, as in Envoy's oldest builds. Each such answer and
 * the log say that the client should send a POST.
 */
import type { AdminResponse } from '../../http-pages/admin-response.ts';
import { TEXT } from '../http/responses.ts';

/** 299: a warning that lasts. */
const WARNING = '299 - "GET changes the server because of --legacy-admin, use POST"';
const ON_PAGE = 'warning: GET changes the server because of --legacy-admin, use POST\n';

/** For the log, after the command's own line. */
export function getInLog(path: string): string {
  return `${path} was asked for with GET: mutations should use POST, GET works because of --legacy-admin alone`;
}

/** The answer with the warning: a header, and a last line where the page is plain text. */
export function withGetWarning(answer: AdminResponse): AdminResponse {
  const headers = { ...answer.headers, warning: WARNING };
  const { body, contentType = TEXT } = answer;
  if (typeof body !== 'string' || contentType !== TEXT) return { ...answer, headers };
  const page = body === '' || body.endsWith('\n') ? body : `${body}\n`;
  return { ...answer, headers, body: page + ON_PAGE };
}
