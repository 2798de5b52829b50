/** What the routing table says of one endpoint; everything else is made from it. */
import type { AdminContext } from './admin-context.ts';
import type { AdminResponse } from '../http-pages/admin-response.ts';
import {
  BadParam,
  readParams,
  shownParams,
  type Params,
  type ParamValues,
  type ShownParam,
} from '../http-pages/params.ts';
import type { Query } from '../http-pages/query.ts';
import { TEXT } from './http/responses.ts';

export interface AdminRoute {
  readonly path: string;
  readonly help: string;
  /** Changes the server: POST only, refused from foreign origins, written to the audit log. */
  readonly mutates: boolean;
  /** A large page: at most a few are made at the same time. */
  readonly large?: boolean;
  /** As help, forms and docs show them. */
  readonly params: readonly ShownParam[];
  /** The names of those that Envoy's help does not show either. */
  readonly unshownParams: readonly string[];
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
  /** The tags that the client has a page of already. */
  readonly ifNoneMatch: string;
  /** As latin1 text, at most the server's limit. */
  readonly body: string;
}

type NoParams = Readonly<Record<never, never>>;

/** An endpoint whose parameters are read, or refused with 400, before it is asked. */
interface DeclaredRoute<Declared extends Params> extends Omit<
  AdminRoute,
  'mutates' | 'params' | 'unshownParams' | 'handle'
> {
  readonly params?: Declared;
  readonly handle: (
    request: RequestOf<Declared>,
    context: AdminContext,
  ) => AdminResponse | Promise<AdminResponse>;
}

/** A request that `handle` has read the parameters of. */
export type RequestOf<Declared extends Params> = EndpointRequest & {
  readonly params: ParamValues<Declared>;
};

const NONE: Params = {};

export function read<Declared extends Params = NoParams>(
  route: DeclaredRoute<Declared>,
): AdminRoute {
  return declared(route, false);
}

export function mutate<Declared extends Params = NoParams>(
  route: DeclaredRoute<Declared>,
): AdminRoute {
  return declared(route, true);
}

function declared<Declared extends Params>(
  { params: given = NONE as Declared, handle, ...route }: DeclaredRoute<Declared>,
  mutates: boolean,
): AdminRoute {
  return {
    ...route,
    mutates,
    params: shownParams(given),
    unshownParams: Object.keys(given).filter((name) => given[name]?.shown === undefined),
    handle: (request, context) => {
      const params = readParams(given, request.query);
      return params instanceof BadParam
        ? { status: 400, contentType: params.contentType ?? TEXT, body: params.text }
        : handle({ ...request, params }, context);
    },
  };
}

/** The routes that exist now. */
export function offeredRoutes(
  routes: readonly AdminRoute[],
  context: AdminContext,
): readonly AdminRoute[] {
  return routes.filter(({ isOffered }) => isOffered?.(context) !== false);
}
