/**
 * Tracing of one connection manager: the decision about each request, its span with the tags that
 * the configuration asks for, spans of attempts, and what decorators say to clients and upstreams.
 */
import { TRACING } from '../../shared/stats/templates/http-connection-manager.ts';
import { scopePrefix } from '../../shared/stats/stat-scope.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import type { RouteTracing, TracingSettings } from '../../shared/resources/tracing/tracing.ts';
import type { LoopClock } from '../loop/loop-clock.ts';
import type { Runtime } from '../loop/runtime.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import type {
  AttemptTarget,
  AttemptTrace,
  RequestTrace,
  RequestTracer,
} from '../stream/request-trace.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import { compileTextFormat, type Formatter } from '../substitution/compile-format.ts';
import { compileTags, type CompiledTag, visitTags } from '../telemetry/custom-tags.ts';
import { NO_SPAN, type Span, type Tracer } from './span.ts';
import { noteMoments, tagAnswer, tagGrpcResponse, tagRequest } from './span-tags.ts';
import { decideTrace } from './trace-decision.ts';

const DECORATOR = 'x-envoy-decorator-operation';
const { index } = TRACING;
const COUNTERS = {
  not_traceable: index.not_traceable,
  sampling: index.random_sampling,
  service_forced: index.service_forced,
  client_forced: index.client_enabled,
} as const;

export interface TracingEnv {
  readonly clock: LoopClock;
  readonly runtime: Runtime;
  readonly stats: StatWriter;
  readonly node: { readonly id: string; readonly zone: string };
}

/** What a manager and one of its routes ask for together. */
interface Plan {
  readonly tags: readonly CompiledTag[];
  readonly operation: Formatter | undefined;
  readonly upstreamOperation: Formatter | undefined;
}

export class ManagerTracing implements RequestTracer {
  readonly settings: TracingSettings;
  readonly env: TracingEnv;
  /** Requests are what this side sends: the listener is an outbound one. */
  readonly isOutbound: boolean;
  readonly #tracer: Tracer | undefined;
  readonly #base: number;
  readonly #plan: Plan;
  readonly #plans = new WeakMap<RouteTracing, Plan>();

  constructor(
    settings: TracingSettings,
    place: { readonly statPrefix: string; readonly isOutbound: boolean },
    tracer: Tracer | undefined,
    env: TracingEnv,
  ) {
    this.settings = settings;
    this.env = env;
    this.isOutbound = place.isOutbound;
    this.#tracer = tracer;
    const scope = `${scopePrefix(`http.${place.statPrefix}`)}tracing.`;
    this.#base = env.stats.defineBlock(TRACING, scope);
    this.#plan = planOf(settings, undefined);
  }

  begin(headers: HeaderMap, info: StreamInfo): RequestTrace {
    const { stats, node, runtime } = this.env;
    if (info.followedRedirects === undefined) {
      info.traceReason = decideTrace(headers, info, this.settings, runtime);
    }
    const reason = info.isHealthCheck ? undefined : info.traceReason;
    stats.increment(this.#base + (reason === undefined ? index.health_check : COUNTERS[reason]));
    const plan = this.#planFor(info);
    const span =
      this.#tracer?.begin(headers, {
        operation: this.#operation(headers),
        startWallMs: info.startWallMs,
        kind: this.isOutbound && !this.settings.spawnsUpstreamSpan ? 'client' : 'server',
        isSampled: reason !== undefined && reason !== 'not_traceable',
      }) ?? NO_SPAN;
    const operation = plan.operation?.(info) ?? '';
    if (operation !== '') span.setOperation(operation);
    if (span.isSampled) {
      span.setTag('node_id', node.id);
      span.setTag('zone', node.zone);
    }
    const trace = new StreamTrace(this, span, plan, info);
    trace.decorate(headers);
    return trace;
  }

  release(): void {
    this.env.stats.releaseBlock(this.#base);
    this.#tracer?.release();
  }

  #operation(headers: HeaderMap): string {
    return this.isOutbound ? `egress ${headers.authority}` : 'ingress';
  }

  #planFor(info: StreamInfo): Plan {
    const route = info.route?.tracing;
    if (route === undefined) return this.#plan;
    let plan = this.#plans.get(route);
    if (plan === undefined) {
      plan = planOf(this.settings, route);
      this.#plans.set(route, plan);
    }
    return plan;
  }
}

function planOf(settings: TracingSettings, route: RouteTracing | undefined): Plan {
  return {
    tags: compileTags(settings.customTags, route?.customTags),
    operation: nameFormat(route?.operation ?? settings.operation),
    upstreamOperation: nameFormat(route?.upstreamOperation ?? settings.upstreamOperation),
  };
}

function nameFormat(format: string | undefined): Formatter | undefined {
  return format === undefined ? undefined : compileTextFormat(format, { omitEmptyValues: true });
}

class StreamTrace implements RequestTrace {
  readonly #manager: ManagerTracing;
  readonly #span: Span;
  readonly #plan: Plan;
  readonly #info: StreamInfo;
  /** Told to the other side: a decorator's operation. */
  #told: string | undefined;

  constructor(manager: ManagerTracing, span: Span, plan: Plan, info: StreamInfo) {
    this.#manager = manager;
    this.#span = span;
    this.#plan = plan;
    this.#info = info;
    const decorator = info.route?.decorator;
    // A format of the configuration stands above decorators.
    if (plan.operation === undefined && decorator !== undefined && decorator.operation !== '') {
      span.setOperation(decorator.operation);
      if (decorator.propagates) this.#told = decorator.operation;
    }
  }

  get traceId(): string {
    return this.#span.traceId;
  }

  get spanId(): string {
    return this.#span.spanId;
  }

  get isSampled(): boolean {
    return this.#span.isSampled;
  }

  beginAttempt(headers: HeaderMap, target: AttemptTarget): AttemptTrace | undefined {
    const { settings, env } = this.#manager;
    if (!settings.spawnsUpstreamSpan) {
      if (settings.propagatesContext) this.#span.inject(headers, target.host);
      return undefined;
    }
    const operation =
      this.#plan.upstreamOperation?.(this.#info) ?? `router ${target.clusterAlias} egress`;
    const child = this.#span.spawnChild(operation, env.clock.wallMs);
    if (settings.propagatesContext) child.inject(headers, target.host);
    if (!child.isSampled) return undefined;
    if (target.attempt > 1) child.setTag('retry.count', String(target.attempt - 1));
    return new AttemptSpan(child, target, this.#plan.tags, this.#manager);
  }

  onResponse(headers: HeaderMap): void {
    if (!this.#manager.isOutbound) {
      if (this.#told !== undefined) headers.set(DECORATOR, this.#told);
      return;
    }
    const given = headers.get(DECORATOR);
    if (given === undefined) return;
    if (given !== '') this.#span.setOperation(given);
    headers.remove(DECORATOR);
  }

  end(info: StreamInfo): void {
    const span = this.#span;
    if (!span.isSampled) return;
    const { settings, env } = this.#manager;
    tagRequest(span, info, settings.maxPathTagLength);
    const cluster = info.upstreamCluster;
    const isUpstream = cluster !== '' && info.upstreamHost !== undefined;
    tagAnswer(span, {
      cluster: isUpstream ? cluster : undefined,
      clusterAlias: info.upstreamClusterAlias || cluster,
      status: info.responseCode,
      flags: info.responseFlags,
    });
    if (settings.isVerbose) noteMoments(span, info, 'all');
    visitTags(this.#plan.tags, info, (name, value) => span.setTag(name, value));
    tagGrpcResponse(span, info.responseHeaders);
    tagGrpcResponse(span, info.responseTrailers);
    span.finish(env.clock.wallMs);
  }

  /** An outbound side tells the next one its operation; an inbound one is told by its client. */
  decorate(headers: HeaderMap): void {
    if (this.#manager.isOutbound) {
      if (this.#told !== undefined) headers.set(DECORATOR, this.#told);
      return;
    }
    const given = headers.get(DECORATOR);
    if (given === undefined) return;
    if (given !== '') {
      this.#span.setOperation(given);
      this.#told = undefined;
    }
    headers.remove(DECORATOR);
  }
}

class AttemptSpan implements AttemptTrace {
  readonly #span: Span;
  readonly #target: AttemptTarget;
  readonly #tags: readonly CompiledTag[];
  readonly #manager: ManagerTracing;
  #status = 0;
  #isOver = false;

  constructor(
    span: Span,
    target: AttemptTarget,
    tags: readonly CompiledTag[],
    manager: ManagerTracing,
  ) {
    this.#span = span;
    this.#target = target;
    this.#tags = tags;
    this.#manager = manager;
  }

  answered(headers: HeaderMap): void {
    this.#status = headers.status;
    tagGrpcResponse(this.#span, headers);
  }

  trailed(trailers: HeaderMap): void {
    tagGrpcResponse(this.#span, trailers);
  }

  failed(reason: string): void {
    this.#span.setTag('error', 'true');
    this.#span.setTag('error.reason', reason);
  }

  cancelled(): void {
    this.#span.setTag('canceled', 'true');
  }

  end(info: StreamInfo, flags: number): void {
    if (this.#isOver) return;
    this.#isOver = true;
    const { settings, env } = this.#manager;
    const { clusterName: cluster, clusterAlias, host } = this.#target;
    const span = this.#span;
    span.setTag('http.protocol', info.upstreamProtocol ?? '-');
    span.setTag('upstream_address', host.address);
    span.setTag('peer.address', host.address);
    tagAnswer(span, { cluster, clusterAlias, status: this.#status, flags });
    if (settings.isVerbose) noteMoments(span, info, 'upstream');
    visitTags(this.#tags, info, (name, value) => span.setTag(name, value));
    span.finish(env.clock.wallMs);
  }
}
