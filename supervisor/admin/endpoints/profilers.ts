/** `/cpuprofiler`, `/heapprofiler`, `/allocprofiler`, `/heap_dump` and `/peak_heap_dump`. */
import type { Profilers } from '../../profiling/profilers.ts';
import type { AdminResponse } from '../../http-pages/admin-response.ts';
import { BadParam, oneOf, type Params } from '../../http-pages/params.ts';
import type { RequestOf } from '../admin-route.ts';
import { okResponse, textResponse } from '../http/responses.ts';

const SWITCH = new Map([
  ['y', true],
  ['n', false],
]);
const USAGE = new BadParam('?enable=<y|n>\n');

export function switchParams(help: string) {
  return {
    enable: oneOf({ help, values: SWITCH, byDefault: USAGE, otherwise: USAGE }),
  } satisfies Params;
}

type SwitchRequest = RequestOf<ReturnType<typeof switchParams>>;

export async function answerCpuProfiler(
  { params: { enable } }: SwitchRequest,
  profilers: Profilers,
): Promise<AdminResponse> {
  if (enable && !(await profilers.startCpu())) {
    return textResponse('failure to start the profiler', 500);
  }
  if (!enable) await profilers.stopCpu();
  return okResponse();
}

export async function answerHeapProfiler(
  { params: { enable } }: SwitchRequest,
  profilers: Profilers,
): Promise<AdminResponse> {
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
  { params: { enable } }: SwitchRequest,
  profilers: Profilers,
): Promise<AdminResponse> {
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
