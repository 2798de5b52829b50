/**
 * What becomes of a request that somebody asks about: the question and the answer, as they cross
 * the channel and as `/explain` prints them. Texts are as on the wire: one character per byte.
 */

/** A request, as the client would send it, and where it would arrive. */
export interface AskedRequest {
  readonly method: string;
  readonly scheme: 'http' | 'https';
  readonly authority: string;
  /** With query; `*` and an empty path as a client may send them. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** The client's IP address. */
  readonly clientIp: string;
  /** The listener's name; undefined: the one that listens at `port`, or the first with HTTP. */
  readonly listener?: string;
  /** Where the client connects to; undefined: where the listener is. */
  readonly ip?: string;
  readonly port?: number;
  /** What a TLS client says; the authority's host when absent. */
  readonly serverName?: string;
  readonly applicationProtocols: readonly string[];
}

export interface Explanation {
  /** What ends the request before all of the rest is known; absent: it goes to a host. */
  readonly end?: ExplainedEnd;
  readonly listener?: ExplainedListener;
  readonly filterChain?: ExplainedChain;
  readonly request?: ExplainedRequest;
  readonly routing?: ExplainedRouting;
  readonly filters?: readonly ExplainedFilter[];
  readonly action?: ExplainedAction;
  readonly cluster?: ExplainedCluster;
}

/** Why there is no answer of a host; `status` where the client gets one. */
export interface ExplainedEnd {
  readonly why: string;
  readonly status?: number;
  /** As access logs have it in `%RESPONSE_CODE_DETAILS%`. */
  readonly details?: string;
}

interface ExplainedListener {
  readonly name: string;
  readonly addresses: readonly string[];
  /** Filters that look at a connection before its chain is chosen; what they say is not known. */
  readonly listenerFilters: readonly string[];
}

interface ExplainedChain {
  readonly name: string;
  readonly isDefault: boolean;
  /** Why those before and behind it were not chosen, in their order. */
  readonly others: readonly UnchosenChain[];
  /** Chains that are not listed. */
  readonly omitted: number;
}

export interface UnchosenChain {
  readonly name: string;
  /** The first criterion that does not fit, or that another chain fits better. */
  readonly criterion: string;
  /** What it asks for. */
  readonly wants: string;
  readonly actual: string;
}

/** The request as the connection manager has it before it looks for a route. */
interface ExplainedRequest {
  readonly clientAddress: string;
  readonly isInternal: boolean;
  readonly changes: readonly ExplainedChange[];
}

export interface ExplainedChange {
  readonly name: string;
  /** Absent: the header was not there. */
  readonly before?: string;
  /** Absent: the header is removed. */
  readonly after?: string;
}

export interface ExplainedRouting {
  /** Empty: there is none for the request. */
  readonly routeConfiguration: string;
  readonly virtualHost?: { readonly name: string; readonly domain: string };
  /** Each route that was looked at, up to the one that fits. */
  readonly tried: readonly TriedRoute[];
  /** Routes that were looked at and are not listed. */
  readonly omitted: number;
}

export interface TriedRoute {
  readonly position: number;
  readonly name: string;
  readonly match: string;
  /** Absent: the route fits. */
  readonly failed?: FailedCondition;
}

export interface FailedCondition {
  readonly condition: string;
  readonly wants: string;
  readonly actual: string;
}

interface ExplainedFilter {
  readonly name: string;
  readonly takesPart: boolean;
  /** Why it does or does not. */
  readonly why: string;
  /** The route, virtual host or table has settings of its own for it. */
  readonly hasRouteSettings: boolean;
}

export interface ExplainedAction {
  readonly kind: 'cluster' | 'redirect' | 'direct_response';
  readonly routeName: string;
  /** Status of a redirect or direct response. */
  readonly status?: number;
  readonly location?: string;
  /** What changes in the request before it is sent. */
  readonly changes?: readonly ExplainedChange[];
  /** How the cluster is chosen, where it is not simply named. */
  readonly choice?: string;
  readonly timeoutMs?: number;
  readonly perTryTimeoutMs?: number;
  readonly idleTimeoutMs?: number;
  readonly maxStreamDurationMs?: number;
  readonly retries?: ExplainedRetries;
  readonly mirrors?: readonly string[];
  readonly priority?: 'DEFAULT' | 'HIGH';
}

interface ExplainedRetries {
  readonly on: readonly string[];
  readonly attempts: number;
}

export interface ExplainedCluster {
  readonly name: string;
  readonly policy: string;
  /** Share of requests by priority, in percent: healthy and degraded hosts. */
  readonly priorities: readonly ExplainedPriority[];
  readonly hosts: readonly ExplainedHost[];
  /** Hosts that are not listed. */
  readonly omitted: number;
}

interface ExplainedPriority {
  readonly priority: number;
  readonly healthyPercent: number;
  readonly degradedPercent: number;
  readonly isPanicking: boolean;
}

export interface ExplainedHost {
  readonly address: string;
  readonly mayBeChosen: boolean;
  readonly why: string;
  readonly priority: number;
  readonly weight: number;
  readonly locality: string;
}
