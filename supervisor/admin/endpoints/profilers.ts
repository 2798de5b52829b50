/** `/cpuprofiler`, `/heapprofiler`, `/allocprofiler`, `/heap_dump` and `/peak_heap_dump`. */
import type { Profilers } from '../../profiling/profilers.ts';
import type { AdminResponse } from '../admin-context.ts';
import type { EndpointRequest } from '../admin-route.ts';
import { okResponse, textResponse } from '../http/responses.ts';

const WHICH = '?enable=<y|n>\n';

export async function answerCpuProfiler(
  request: EndpointRequest,
  profilers: Profilers,
): Promise<AdminResponse> {
  const enable = readSwitch(request);
  if (enable === undefined) return textResponse(WHICH, 400);
  if (enable && !(await profilers.startCpu())) {
    return textResponse('failure to start the profiler', 500);
  }
  if (!enable) await profilers.stopCpu();
  return okResponse();
}

export async function answerHeapProfiler(
  request: EndpointRequest,
  profilers: Profilers,
): Promise<AdminResponse> {
  const enable = readSwitch(request);
  if (enable === undefined) return textResponse(WHICH, 400);
  return enable ? await startHeap(profilers) : await stopHeap(profilers);
}

async function startHeap(profilers: Profilers): Promise<AdminResponse> {
  if (profilers.isHeapRunning) {
    return textResponse('Fail to start heap profiler: already started', 400);
  }
  return (await profilers.startHeap())
    ? textResponse('Starting heap profiler')
    : textResponse('Fail to start the heap profiler', 500);
}

async function stopHeap(profilers: Profilers): Promise<AdminResponse> {
  if (!profilers.isHeapRunning) {
    return textResponse('Fail to stop heap profiler: not started', 400);
  }
  await profilers.stopHeap();
  return textResponse(`Heap profiler stopped and data written to ${profilers.path}`);
}

/** Allocations are what the heap profiler samples; it is started and stopped without a file. */
export function answerAllocationProfiler(request: EndpointRequest): AdminResponse {
  const enable = readSwitch(request);
  if (enable === undefined) return textResponse(WHICH, 400);
  return enable
    ? textResponse('The current build does not support the allocation profiler', 501)
    : okResponse();
}

/** A gzipped pprof profile of the supervisor, and of the workers while the heap profiler runs. */
export async function answerHeapDump(profilers: Profilers): Promise<AdminResponse> {
  return textResponse(await profilers.readHeap());
}

export function answerPeakHeapDump(): AdminResponse {
  return textResponse('The current build does not keep the peak of the heap', 501);
}

function readSwitch(request: EndpointRequest): boolean | undefined {
  const value = request.query.first('enable');
  return value === 'y' ? true : value === 'n' ? false : undefined;
}
