/**
 * From a parsed request to an answer: path, method and origin rules, then the endpoint. Knows no
 * sockets, so that every rule is tested by calling it.
 */
import { refuseAccess, refuseMutation } from './access-rules.ts';
import type { AccessRules } from './access-rules.ts';
import type { AdminContext } from './admin-context.ts';
import type { AdminResponse } from '../http-pages/admin-response.ts';
import { offeredRoutes, type AdminRoute, type EndpointRequest } from './admin-route.ts';
import { getInLog, withGetWarning } from './legacy/get-for-mutations.ts';
import { renderHelp } from './help.ts';
import { parseQuery } from '../http-pages/query.ts';
import { parseRequestTarget } from './http/request-target.ts';
import { textResponse } from './http/responses.ts';

interface AdminRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** As latin1 text. */
  readonly body: string;
  /** For the audit log: address and port, or the unix socket. */
  readonly client: string;
}

interface RequestTarget {
  readonly path: string;
  readonly query: string;
}

export interface AdminRouter {
  /** Undefined: the target is no path and gets an empty 404. Never rejects. */
  answer(request: AdminRequest): Promise<AdminResponse | undefined>;
  /** True when the answer to this target may be large. */
  isLarge(target: string): boolean;
}

export interface AdminRules extends AccessRules {
  /** `admin.allow_paths`; the argument is the normalised path with its query. Absent: all. */
  readonly allowPath?: (path: string) => boolean;
}

export function createAdminRouter(
  routes: readonly AdminRoute[],
  context: AdminContext,
  rules: AdminRules = {},
): AdminRouter {
  const byPath = new Map(routes.map((route) => [route.path, route]));

  async function answer(request: AdminRequest): Promise<AdminResponse | undefined> {
    const target = parseRequestTarget(request.target);
    if (target === undefined) return undefined;
    const asked = { header: (name: string) => header(request, name) };
    const noAccess = refuseAccess(asked, rules);
    if (noAccess !== undefined) return noAccess;
    const whole = target.query === '' ? target.path : `${target.path}?${target.query}`;
    if (rules.allowPath?.(whole) === false) {
      return textResponse(`request to path ${whole} not allowed`, 403);
    }
    const route = byPath.get(target.path);
    if (route === undefined || route.isOffered?.(context) === false) {
      return textResponse(`invalid path. ${renderHelp(offeredRoutes(routes, context))}`, 404);
    }
    if (!route.mutates) return await callEndpoint(route, request, target);
    return await change(route, request, target);
  }

  async function change(
    route: AdminRoute,
    request: AdminRequest,
    target: RequestTarget,
  ): Promise<AdminResponse> {
    const isOldGet = request.method === 'GET' && rules.isLegacy === true;
    if (request.method !== 'POST' && !isOldGet) {
      return textResponse(`Method ${request.method} not allowed, POST required.`, 400);
    }
    const refusal = refuseMutation({ header: (name) => header(request, name) }, rules);
    const response = refusal ?? (await callEndpoint(route, request, target));
    audit(request, response);
    if (!isOldGet || refusal !== undefined) return response;
    context.log('warning', getInLog(target.path));
    return withGetWarning(response);
  }

  async function callEndpoint(
    route: AdminRoute,
    request: AdminRequest,
    target: RequestTarget,
  ): Promise<AdminResponse> {
    try {
      return await route.handle(endpointRequest(request, target), context);
    } catch (error) {
      context.log('error', `cannot answer ${target.path}: ${describeError(error)}`);
      return textResponse('Internal Server Error\n', 500);
    }
  }

  function audit(request: AdminRequest, response: AdminResponse): void {
    context.log(
      'info',
      `admin command: ${request.method} ${printable(request.target)} from ${request.client}: ${response.status}`,
    );
  }

  return {
    answer,
    isLarge(targetText) {
      const target = parseRequestTarget(targetText);
      return target !== undefined && byPath.get(target.path)?.large === true;
    },
  };
}

function endpointRequest(request: AdminRequest, target: RequestTarget): EndpointRequest {
  const inTarget = parseQuery(target.query);
  const usesForm = inTarget.size === 0 && isForm(header(request, 'content-type'));
  return {
    path: target.path,
    method: request.method,
    query: usesForm ? parseQuery(request.body) : inTarget,
    rawQuery: target.query,
    accept: header(request, 'accept'),
    acceptEncoding: header(request, 'accept-encoding'),
    ifNoneMatch: header(request, 'if-none-match'),
    body: request.body,
  };
}

function header(request: AdminRequest, name: string): string {
  const value = Object.hasOwn(request.headers, name) ? request.headers[name] : undefined;
  return typeof value === 'string' ? value : (value?.join(',') ?? '');
}

function isForm(contentType: string): boolean {
  return contentType.split(';')[0]?.trim().toLowerCase() === 'application/x-www-form-urlencoded';
}

// A log line must stay one line, whatever a client sends.
function printable(target: string): string {
  return target.replace(/[^\x20-\x7e]/g, '?').slice(0, 300);
}

function describeError(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
