/**
 * `/cpuprofiler`, `/heapprofiler`, `/allocprofiler` and the heap dumps. This build has no profiler
 * behind them: starting one fails with the reference's text for a build without it.
 */
import type { AdminResponse } from '../admin-context.ts';
import type { EndpointRequest } from '../admin-route.ts';
import { okResponse, textResponse } from '../http/responses.ts';

export function answerCpuProfiler(request: EndpointRequest): AdminResponse {
  const enable = readSwitch(request);
  if (enable === undefined) return textResponse('?enable=<y|n>\n', 400);
  return enable ? textResponse('failure to start the profiler', 500) : okResponse();
}

export function answerHeapProfiler(): AdminResponse {
  return textResponse('The current build does not support heap profiler', 501);
}

export function answerAllocationProfiler(request: EndpointRequest): AdminResponse {
  const enable = readSwitch(request);
  if (enable === undefined) return textResponse('?enable=<y|n>\n', 400);
  return enable
    ? textResponse('The current build does not support the allocation profiler', 501)
    : okResponse();
}

export function answerHeapDump(): AdminResponse {
  return textResponse('The current build does not support heap profiler', 501);
}

function readSwitch(request: EndpointRequest): boolean | undefined {
  const value = request.query.first('enable');
  return value === 'y' ? true : value === 'n' ? false : undefined;
}
