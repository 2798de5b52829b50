/** Makes the tracing of a connection manager; what it holds goes with the manager. */
import type { HttpConnectionManager, ListenerResource } from '../../shared/resources/listener.ts';
import type { FilterContext } from '../filters/filter-context.ts';
import { ManagerTracing } from '../tracing/manager-tracing.ts';
import type { CompilerContext } from './compiler-context.ts';

/** Undefined where requests are not traced. */
export function compileTracing(
  { tracing: settings, statPrefix }: HttpConnectionManager,
  { direction }: ListenerResource,
  { tracers, env, loop, runtime }: CompilerContext,
  { onRelease }: Pick<FilterContext, 'onRelease'>,
): ManagerTracing | undefined {
  if (settings === undefined) return undefined;
  const tracer = settings.tracer && tracers.open(settings.tracer);
  const place = { statPrefix, isOutbound: direction === 'OUTBOUND' };
  const { stats, heritage } = env;
  const tracing = new ManagerTracing(settings, place, tracer, {
    clock: loop.clock,
    runtime,
    stats,
    node: heritage.node,
  });
  onRelease(() => tracing.release());
  return tracing;
}
