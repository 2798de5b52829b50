/** What the routing table says of one endpoint; everything else is derived from it. */
import type { AdminContext } from './admin-context.ts';
import type { AdminResponse } from '../http-pages/admin-response.ts';
import type { Query } from '../http-pages/query.ts';

export interface AdminRoute {
  readonly path: string;
  readonly help: string;
  /** Changes the server: POST only, refused from foreign origins, written to the audit log. */
  readonly mutates: boolean;
  /** A large page: at most a few are made at the same time. */
  readonly large?: boolean;
  readonly params: readonly AdminParam[];
  /**
   * Absent: always. Otherwise `/help` leaves it out and its path is unknown while this is false.
   */
  readonly isOffered?: (context: AdminContext) => boolean;
  readonly handle: (
    request: EndpointRequest,
    context: AdminContext,
  ) => AdminResponse | Promise<AdminResponse>;
}

export interface EndpointRequest {
  readonly path: string;
  readonly method: string;
  readonly query: Query;
  /** The query as it was sent. */
  readonly rawQuery: string;
  readonly accept: string;
  readonly acceptEncoding: string;
  /** As latin1 text, at most the server's limit. */
  readonly body: string;
}

export type AdminParam =
  | { readonly kind: 'boolean' | 'string'; readonly name: string; readonly help: string }
  | {
      readonly kind: 'enum';
      readonly name: string;
      readonly help: string;
      readonly choices: readonly string[];
    };

export function flag(name: string, help: string): AdminParam {
  return { kind: 'boolean', name, help };
}

export function text(name: string, help: string): AdminParam {
  return { kind: 'string', name, help };
}

export function oneOf(name: string, choices: readonly string[], help: string): AdminParam {
  return { kind: 'enum', name, help, choices };
}

/** The routes that exist now. */
export function offeredRoutes(
  routes: readonly AdminRoute[],
  context: AdminContext,
): readonly AdminRoute[] {
  return routes.filter(({ isOffered }) => isOffered?.(context) !== false);
}
