/** `/cpuprofiler`, `/heapprofiler`, `/allocprofiler`, `/heap_dump` and `/peak_heap_dump`. */
import type { Profilers } from '../../profiling/profilers.ts';
import type { AdminResponse } from '../../http-pages/admin-response.ts';
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
  if (profilers.isAllocationsRunning) return busy();
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

/** Begins to sample allocations, and answers with what was allocated when it is stopped. */
export async function answerAllocationProfiler(
  request: EndpointRequest,
  profilers: Profilers,
): Promise<AdminResponse> {
  const enable = readSwitch(request);
  if (enable === undefined) return textResponse(WHICH, 400);
  const isRunning = profilers.isAllocationsRunning;
  if (!enable) {
    return isRunning
      ? textResponse(await profilers.stopAllocations())
      : textResponse('Allocation profiler is not started', 400);
  }
  if (isRunning) return textResponse('Allocation profiler has already started', 400);
  if (profilers.isHeapRunning) return textResponse('The heap profiler is running', 400);
  await profilers.startAllocations();
  return okResponse();
}

/** A gzipped pprof profile of the supervisor, and of the workers while the heap profiler runs. */
export async function answerHeapDump(profilers: Profilers): Promise<AdminResponse> {
  return profilers.isAllocationsRunning ? busy() : textResponse(await profilers.readHeap());
}

/** The supervisor's heap as it was at its largest. */
export async function answerPeakHeapDump(profilers: Profilers): Promise<AdminResponse> {
  return profilers.isAllocationsRunning ? busy() : textResponse(await profilers.readPeakHeap());
}

/** V8 samples what is in use or what is allocated, not both at the same time. */
function busy(): AdminResponse {
  return textResponse('The allocation profiler is running', 400);
}

function readSwitch(request: EndpointRequest): boolean | undefined {
  const value = request.query.first('enable');
  return value === 'y' ? true : value === 'n' ? false : undefined;
}
